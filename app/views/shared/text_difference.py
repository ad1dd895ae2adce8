"""Two texts, word by word: what is equal, changed, missing, added. The data of the browser component `difference`.

Upper and lower case are different. A punctuation mark is a word of its own, and so is each character of a script
without spaces between words. A combining mark, such as a vowel sign of Hindi, belongs to the character before it.
"""

import re
import unicodedata
from difflib import SequenceMatcher
from typing import Any, Literal

from app.figures.tables import Table
from app.languages import _, ngettext, pgettext

Change = Literal["equal", "changed", "missing", "added"]
_EACH_A_WORD = "\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"  # Thai, Japanese, Chinese characters
_MARK = "\u0301"  # stands for each combining mark: for Python's regular expressions, marks are not in \w
_JOINERS = "\u200c\u200d"  # between letters of a word, in Hindi or Persian
_LETTERS = f"(?:[^\\W{_EACH_A_WORD}]{_MARK}*)+"
_WORD = re.compile(rf"[{_EACH_A_WORD}]{_MARK}*|{_LETTERS}(?:['’\-]{_LETTERS})*|[^\w\s]{_MARK}*")
_CHANGES: dict[str, Change] = {"equal": "equal", "replace": "changed", "delete": "missing", "insert": "added"}


def words(text: str) -> list[str]:
    """The words and punctuation marks of a text, each with the white space before it."""
    found = []
    end = 0
    for match in _WORD.finditer("".join(_MARK if _is_mark(character) else character for character in text)):
        found.append(text[end : match.end()])
        end = match.end()
    return found


def _is_mark(character: str) -> bool:
    return character in _JOINERS or unicodedata.category(character).startswith("M")


def difference(reference: str, text: str) -> list[tuple[Change, str, str]]:
    """Stretches of words: (what happened, words of the reference, words of the text), in order.

    `missing` is only in the reference, `added` only in the text.
    """
    old, new = words(reference), words(text)
    found: list[tuple[Change, str, str]] = []
    matcher = SequenceMatcher(None, [word.strip() for word in old], [word.strip() for word in new], autojunk=False)
    for what, a, b, c, d in matcher.get_opcodes():
        found.append((_CHANGES[what], "".join(old[a:b]).strip(), "".join(new[c:d]).strip()))
    return found


def difference_data(reference: str, text: str, *, label: str) -> dict[str, Any]:
    """For `app.components.difference`; `label` says in words which two texts they are."""
    stretches = difference(reference, text)
    counts = difference_counts(stretches)
    return {
        "stretches": [{"change": what, "old": old, "new": new, "mark": _mark(what)} for what, old, new in stretches],
        "label": label,
        "summary": ngettext(
            "{count} word equal, {changed} changed, {missing} missing, {added} added.",
            "{count} words equal, {changed} changed, {missing} missing, {added} added.",
            counts["equal"],
            changed=counts["changed"],
            missing=counts["missing"],
            added=counts["added"],
        ),
    }


def _mark(what: Change) -> str:
    """The words that mark a stretch with this change."""
    return {
        "equal": "",
        "changed": pgettext("of two texts", "changed"),
        "missing": pgettext("of two texts", "− missing"),
        "added": pgettext("of two texts", "+ added"),
    }[what]


def difference_counts(stretches: list[tuple[Change, str, str]]) -> dict[Change, int]:
    """The number of words for each change. A changed stretch counts as many words as its longer side has."""
    counts: dict[Change, int] = {"equal": 0, "changed": 0, "missing": 0, "added": 0}
    for what, old, new in stretches:
        counts[what] += max(len(words(old)), len(words(new)))
    return counts


def difference_table(reference: str, text: str, names: tuple[str, str]) -> Table:
    """The stretches as columns of a table."""
    stretches = difference(reference, text)
    labels = {"equal": _("equal"), "changed": _("changed"), "missing": _("missing"), "added": _("added")}
    return {
        _("what"): [labels[what] for what, old, new in stretches],
        names[0]: [old for what, old, new in stretches],
        names[1]: [new for what, old, new in stretches],
    }
