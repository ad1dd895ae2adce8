"""Which word of the translation belongs to which word of the source: cross-attention read as a soft alignment.

The weights of the chosen heads are averaged, and tokens are put together into words (rows averaged, columns summed).
Two words are linked if their weight reaches the threshold. Special tokens are not words, so their rows and columns are
left out. The rows are not normalised again: a row with most of its weight on `</s>` aligns with little, and its weights
stay small.

The shift: the row that reads token t predicts token t+1. A word of the translation can be aligned by the rows that
*predict* its tokens, or by the rows that *read* them, each one row later. A row that reads the word already knows it,
so it often aligns better (Chen et al., 2020, "Accurate word alignment induction from neural machine translation").
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from app.figures.head_sharpness import is_control
from app.figures.tokens_to_words import Group, merged, spelled, words_of

Shift = Literal["predicts", "reads"]
Link = tuple[int, int]  # (word of the source, word of the translation), from 0


@dataclass(frozen=True)
class Alignment:
    """The words of both sides, and how much each word of the translation attends to each word of the source."""

    weights: np.ndarray  # (T', S')
    source: tuple[str, ...]  # S' words
    target: tuple[str, ...]  # T' words
    without_row: tuple[str, ...]  # words that no row reads, because the translation was cut off after them


def word_alignment(
    weights: np.ndarray, source: Sequence[str], predicted: Sequence[str], shift: Shift = "predicts"
) -> Alignment:
    """The soft alignment of the chosen heads.

    Args:
        weights: cross-attention of the chosen heads (N, T, S).
        source: S tokens. predicted: T tokens, what each row predicts.
    """
    mean = weights.astype(np.float64).mean(axis=0)  # (T, S)
    columns, written = _words(source), _words(predicted)
    later = 1 if shift == "reads" else 0
    rows = [tuple(i + later for i in group if i + later < len(predicted)) for group in written]
    drawn = np.zeros((len(rows), len(columns)))  # (T', S')
    present = [t for t, group in enumerate(rows) if group]
    if present and columns:
        drawn[present] = merged(mean, [rows[t] for t in present], columns)
    target = tuple(spelled([predicted[i] for i in group]) for group in written)
    return Alignment(
        drawn.astype(np.float32),
        tuple(spelled([source[i] for i in group]) for group in columns),
        target,
        tuple(word for word, group in zip(target, rows, strict=True) if not group),
    )


def _words(tokens: Sequence[str]) -> list[Group]:
    return [group for group in words_of(tokens) if not is_control(tokens[group[0]])]


def links(weights: np.ndarray, threshold: float) -> list[Link]:
    """The pairs whose weight (T', S') reaches the threshold, sorted by the word of the source."""
    target, source = np.nonzero(weights >= threshold)
    return sorted(zip(source.tolist(), target.tolist(), strict=True))


def pharaoh(found: Sequence[Link]) -> str:
    """The links as Moses, fast_align and others write them: source-target, counted from 0."""
    return " ".join(f"{source}-{target}" for source, target in found)
