"""The axes of an attention picture: tokens with their names, safe to draw.

Row t of the decoder *reads* token t of its input and *predicts* token t+1 (contract 5 of the design). The input begins
with <s>, so in the symbols of the paper the row reads y_{t-1}, where y_0 is <s>, and predicts y_t. An axis has both
names, and each picture shows which is which.

Trap: never give token strings to Plotly as coordinates, because it merges equal ones. Coordinates are 0..n-1 with
tick text (test_a_repeated_word_keeps_a_row_and_a_column_each).
"""

import html
from dataclasses import dataclass

from app.figures.theme import Role
from app.languages import _

LONGEST = 18  # characters of a token that are drawn; the whole token is in hover and table


@dataclass(frozen=True)
class TokenAxis:
    """The tokens along one side of an attention matrix.

    Attributes:
        title: whose tokens they are, e.g. "English (source)".
        role: encoder or decoder, which decides the colour.
        tokens: the names; for decoder rows: what is read.
        predicts: for decoder rows, what each row predicts; else empty.
    """

    title: str
    role: Role
    tokens: tuple[str, ...]
    predicts: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.predicts and len(self.predicts) != len(self.tokens):
            raise ValueError(f"{len(self.predicts)} predictions for {len(self.tokens)} rows")

    def __len__(self) -> int:
        return len(self.tokens)

    @property
    def names(self) -> tuple[str, ...]:
        """A distinct, full name for each position, counted from 1: for tables, CSV and alt texts."""
        if self.predicts:
            pairs = zip(self.tokens, self.predicts, strict=True)
            return tuple(
                _("{place} reads {read}, predicts {predicted}", place=i, read=r, predicted=p)
                for i, (r, p) in enumerate(pairs, start=1)
            )
        return tuple(f"{i} {token}" for i, token in enumerate(self.tokens, start=1))


def visible(token: str) -> str:
    """The token with white space and control characters made visible, cut to what can be drawn."""
    shown = "".join(ch if ch.isprintable() else f"\\x{ord(ch):02x}" for ch in token) or "∅"
    return shown if len(shown) <= LONGEST else shown[: LONGEST - 1] + "…"


def in_words(token: str) -> str:
    """The token as pages show it: without "▁", the mark of the start of a word, unless it is the whole token.

    Tables, and pages about the tokenizer, show the mark.
    """
    return visible(token.removeprefix("▁") or token)


def plotly_text(text: str) -> str:
    """Text that Plotly shows as it is, not as markup.

    Trap: Plotly reads `<b>`, `<a href>` and entities in tick labels, titles and hover texts
    (test_hostile_tokens_are_drawn_letter_by_letter).
    """
    return html.escape(text, quote=False)


def ticks(tokens: tuple[str, ...]) -> list[str]:
    """Tick texts, escaped and cut."""
    return [plotly_text(in_words(token)) for token in tokens]
