"""Numbers about every head, to be sorted: what does it look at, how sharply, how far away?

Each is a mean over the rows of a head, of the weights as the model computed them: nothing hidden, nothing merged.
"""

import csv
import io
from dataclasses import dataclass
from typing import Any

import numpy as np

from app.figures.head_sharpness import entropy, is_sink


@dataclass(frozen=True)
class Column:
    """One number about every head."""

    name: str
    title: str
    meaning: str
    most: float | None = 1.0  # the largest possible value, for bars; None: the largest there is


COLUMNS = (
    Column("strongest", "strongest", "The strongest weight of a row, averaged over the rows."),
    Column("entropy", "entropy", "How spread a row is, in bits: 0 = all on one token; averaged over the rows.", None),
    Column(
        "distance",
        "distance",
        "How many positions away a row attends, weighted by attention. In encoder-decoder attention: away from the "
        "diagonal that joins the first with the first and the last with the last position.",
        None,
    ),
    Column("itself", "itself", "Weight of a position on itself (self-attention only)."),
    Column("previous", "previous", "Weight on the position before, over rows that have one (self-attention only)."),
    Column("next", "next", "Weight on the position after, over rows that have one (self-attention only)."),
    Column("sinks", "sinks", "Weight on special tokens and punctuation."),
    Column(
        "aligned",
        "aligned",
        "The share of the source's tokens, special tokens and punctuation left out, that get the strongest weight of "
        "some row: 1 = all, as in a word alignment that forgets nothing (encoder-decoder attention only).",
    ),
)


def head_numbers(weights: np.ndarray, keys: tuple[str, ...], itself: bool) -> dict[str, np.ndarray]:
    """The `COLUMNS` of every head: (L, H, Q, K) -> (L, H) each; NaN where a number has no meaning.

    Args:
        keys: what is attended to.
        itself: whether it is self-attention, so that rows and columns are the same positions.
    """
    rows, columns = weights.shape[-2:]
    weights = weights.astype(np.float64)
    q, k = np.arange(rows)[:, None], np.arange(columns)[None, :]
    diagonal = q if itself else q * (columns - 1) / max(rows - 1, 1)  # (Q, 1)
    nothing = np.full(weights.shape[:2], np.nan)

    def along(offset: int) -> np.ndarray:
        """Mean of A[q, q + offset] over the rows where that column exists."""
        if not itself or rows <= abs(offset):
            return nothing
        return np.asarray(np.diagonal(weights, offset, axis1=-2, axis2=-1).mean(axis=-1))

    return {
        "strongest": weights.max(axis=-1).mean(axis=-1),
        "entropy": entropy(weights).mean(axis=-1),
        "distance": (weights * np.abs(k - diagonal)).sum(axis=-1).mean(axis=-1),
        "itself": along(0),
        "previous": along(-1),
        "next": along(1),
        "sinks": weights[..., [is_sink(token) for token in keys]].sum(axis=-1).mean(axis=-1),
        "aligned": nothing if itself else _aligned(weights, keys),
    }


def _aligned(weights: np.ndarray, keys: tuple[str, ...]) -> np.ndarray:
    """(L, H, Q, K) -> (L, H): the share of real keys that are the strongest of some row; NaN if there are none."""
    real = np.array([k for k, token in enumerate(keys) if not is_sink(token)], dtype=int)  # (R)
    if not len(real):
        return np.full(weights.shape[:2], np.nan)
    strongest = weights.argmax(axis=-1)  # (L, H, Q)
    found: np.ndarray = (strongest[..., None] == real).any(axis=-2).mean(axis=-1)
    return found


def head_ranking(numbers: dict[str, np.ndarray], layer: int, head: int, label: str) -> dict[str, Any]:
    """The numbers of `head_numbers` for the browser component `ranking`; columns that say nothing are left out."""
    shown = [column for column in COLUMNS if not np.isnan(numbers[column.name]).all()]
    layers, heads = numbers["entropy"].shape
    return {
        "label": label,
        "columns": [{"title": column.title, "meaning": column.meaning, "most": column.most} for column in shown],
        "rows": [
            {
                "layer": i + 1,
                "head": j + 1,
                "values": [round(float(numbers[column.name][i, j]), 4) for column in shown],
            }
            for i in range(layers)
            for j in range(heads)
        ],
        "chosen": layer * heads + head,
    }


def ranking_csv(numbers: dict[str, np.ndarray]) -> str:
    """The same numbers with all their digits, one line a head; an empty cell has no meaning."""
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    writer.writerow(["layer", "head", *numbers])
    for i, j in np.ndindex(numbers["entropy"].shape):
        writer.writerow([i + 1, j + 1, *("" if np.isnan(n[i, j]) else float(n[i, j]) for n in numbers.values())])
    return buffer.getvalue()
