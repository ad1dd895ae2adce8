"""Shapes of tensors: the letters of their dimensions, and letters and numbers as a line of text."""

from collections.abc import Mapping, Sequence

from app.languages import _, gettext_noop
from app.languages.numbers import formatted
from transformer.analysis.edits.checks import Stack
from transformer.model.attention_kinds import Kind

LETTERS = {
    "N": gettext_noop("layers"),
    "B": gettext_noop("batch"),
    "S": gettext_noop("source length"),
    "T": gettext_noop("target length"),
    "Q": gettext_noop("queries"),
    "K": gettext_noop("keys"),
    "H": gettext_noop("heads"),
    "D": "d_model",
    "E": gettext_noop("d_k per head"),
    "F": "d_ff",
    "V": gettext_noop("vocabulary"),
    "P": gettext_noop("positions"),
    "D/2": "d_model / 2",
    "R": gettext_noop("rows decoded side by side"),
    "W": gettext_noop("hypotheses"),
}


def shape_text(letters: Sequence[str], sizes: Sequence[int] | Mapping[str, int]) -> str:
    """A shape in letters and numbers: "H × T × S = heads × target length × source length = 8 × 14 × 13"."""
    numbers = [sizes[letter] for letter in letters] if isinstance(sizes, Mapping) else list(sizes)
    words = " × ".join(_(LETTERS.get(letter, letter)) for letter in letters)
    return _(
        "Shape {letters} = {words} = **{numbers}**",
        letters=" × ".join(letters),
        words=words,
        numbers=" × ".join(formatted(n, ",") for n in numbers),
    )


def length_letter(stack: Stack) -> str:
    """The letter for the number of tokens that a stack reads."""
    return "S" if stack == "encoder" else "T"


def query_letter(kind: Kind) -> str:
    """The letter for the number of queries."""
    return "S" if kind == "encoder" else "T"


def key_letter(kind: Kind) -> str:
    """The letter for the number of keys."""
    return "T" if kind == "decoder" else "S"
