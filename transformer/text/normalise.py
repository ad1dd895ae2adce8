"""Text as it is typed -> text as the model was trained on it; a paragraph -> its sentences.

Keyboards, web pages and word processors write the same sentence in many ways: curly quotes, no-break spaces, an
accent as a character of its own, marks that nobody sees. The model should meet one of them. So every text that comes
in, for training and for translation, goes through here. Letters, case and umlauts stay as they are.
"""

import re
import unicodedata

# Joiners hold emoji families and Persian or Indic words together; next to Latin letters and spaces they are stray.
_LATIN = "\x00-\u024f\\s"
_STRAY_JOINER = re.compile(f"(?<![^{_LATIN}])[\u200c\u200d]|[\u200c\u200d](?![^{_LATIN}])")
_SEEN_FORMAT = "\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2"  # Arabic and Syriac signs: category Cf, but visible
_UNSEEN = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]"
)
_SURROGATE = re.compile("[\ud800-\udfff]")
_PLAIN = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019\u201a\u201b\u2039\u203a\u2032\u00b4", "'"),  # ‘ ’ ‚ ‛ ‹ › ′ ´
        **dict.fromkeys("\u201c\u201d\u201e\u201f\u00ab\u00bb\u2033", '"'),  # “ ” „ ‟ « » ″
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2212", "-"),  # hyphens, figure and en dash, minus
        **dict.fromkeys("\u2014\u2015", " - "),  # em dash, bar
        "\u2026": "...",
    }
)


def clean(text: str) -> str:
    """One line, NFC, single spaces, nothing invisible; every visible sign stays. For the target side of a corpus."""
    text = _SURROGATE.sub("\ufffd", text).replace("\u2581", "_")  # "▁" is sentencepiece's own sign for a space
    text = " ".join(_UNSEEN.sub("", text).split())
    return unicodedata.normalize("NFC", _STRAY_JOINER.sub("", text))


def normalise(text: str) -> str:
    """`clean`, and typographic quotes, dashes and ellipsis made plain. For whatever the model reads."""
    return " ".join(clean(text).translate(_PLAIN).split())
