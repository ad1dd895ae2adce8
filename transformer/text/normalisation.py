"""Text as it is typed -> text as the model was trained on it.

Keyboards, web pages and word processors write the same sentence in many ways: curly quotes, no-break spaces, separate
accents, invisible characters. Sources are `normalise`d to one of these ways, in training and in translation alike.
Letters, case and umlauts are not changed. Targets are only `clean`ed: German keeps its „quotes“.
"""

import re
import unicodedata

WORD_SIGN = "\u2581"  # "▁", which sentencepiece would read as a space
# Joiners connect emoji and words of Persian or Hindi. Beside Latin letters or a space they have no effect.
_NOT_LATIN = "[^\x00-\u024f\\s]"
_STRAY_JOINER = re.compile(f"(?<!{_NOT_LATIN})[\u200c\u200d]+|[\u200c\u200d]+(?!{_NOT_LATIN})")
# Characters of category Cf that are visible or have an effect: joiners and Arabic signs.
_KEPT = "\u200c\u200d\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2"
_PLAIN = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019\u201a\u201b\u2039\u203a\u2032\u00b4", "'"),  # ‘ ’ ‚ ‛ ‹ › ′ ´
        **dict.fromkeys("\u201c\u201d\u201e\u201f\u00ab\u00bb\u2033", '"'),  # “ ” „ ‟ « » ″
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2212", "-"),  # hyphens, figure dash, en dash, minus
        **dict.fromkeys("\u2014\u2015", " - "),  # em dash, bar
        "\u2026": "...",
    }
)


def clean(text: str) -> str:
    """One line, single spaces, NFC, without invisible characters. Idempotent."""
    text = text.replace(WORD_SIGN, "_")
    if not text.isprintable():  # most text is, which saves time
        text = _without_stray_joiners("".join(map(_visible, text)))
    return unicodedata.normalize("NFC", " ".join(text.split()))


def normalise(text: str) -> str:
    """`clean`, and ASCII for typographic quotes, dashes and ellipses. Idempotent."""
    text = clean(text)
    return text if text.isascii() else clean(text.translate(_PLAIN))  # again: a joiner beside "’" is now beside "'"


def _without_stray_joiners(text: str) -> str:
    """Repeats until nothing changes. Without the joiner between a letter and its accent, the two compose to a Latin
    letter, and a joiner after the accent is then beside a Latin letter, so it is stray, too."""
    while (fewer := _STRAY_JOINER.sub("", unicodedata.normalize("NFC", text))) != text:
        text = fewer
    return text


def _visible(character: str) -> str:
    """The character; a space for any white space, U+FFFD for a lone surrogate, "" for an invisible character."""
    if character.isspace():
        return " "
    category = unicodedata.category(character)
    if category == "Cs":
        return "\ufffd"
    return "" if category in ("Cc", "Cf") and character not in _KEPT else character
