"""A table of numbers about every head, which can be sorted: what the head attends to, how sharply, how far away.

Each number is computed over all rows of the head from the model's own weights: no token is hidden, and tokens are not
put together into words.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from app.figures.tables import Table
from app.languages import _, gettext_noop


@dataclass(frozen=True)
class Column:
    """One number about every head."""

    name: str
    title: str
    meaning: str
    most: float | None = 1.0  # the value of a full bar; None: the largest value in the table


COLUMNS = (
    Column(
        "strongest",
        gettext_noop("strongest"),
        gettext_noop("The largest weight of a row, averaged over the rows."),
    ),
    Column(
        "entropy",
        gettext_noop("entropy"),
        gettext_noop("How spread a row is, in bits: 0 = all on one token; averaged over the rows."),
        None,
    ),
    Column(
        "distance",
        gettext_noop("distance"),
        gettext_noop(
            "How many positions away a row attends, weighted by attention. In encoder-decoder attention: away from the "
            "diagonal that joins the first with the first and the last with the last position."
        ),
        None,
    ),
    Column("itself", gettext_noop("itself"), gettext_noop("Weight of a position on itself (self-attention only).")),
    Column(
        "previous",
        gettext_noop("previous"),
        gettext_noop("Weight on the position before, over rows that have one (self-attention only)."),
    ),
    Column(
        "next",
        gettext_noop("next"),
        gettext_noop("Weight on the position after, over rows that have one (self-attention only)."),
    ),
    Column("sinks", gettext_noop("sinks"), gettext_noop("Weight on special tokens and punctuation.")),
    Column(
        "aligned",
        gettext_noop("aligned"),
        gettext_noop(
            "The share of the source's tokens, special tokens and punctuation left out, that get the largest weight "
            "of some row: 1 = all, as in a word alignment that forgets nothing (encoder-decoder attention only)."
        ),
    ),
)


def head_ranking(numbers: dict[str, np.ndarray], layer: int, head: int, label: str) -> dict[str, Any]:
    """The numbers of `head_numbers` for the browser component `ranking`; columns that say nothing are left out."""
    shown = [column for column in COLUMNS if not np.isnan(numbers[column.name]).all()]
    layers, heads = numbers["entropy"].shape
    return {
        "label": label,
        "columns": [{"title": _(column.title), "meaning": _(column.meaning), "most": column.most} for column in shown],
        "rows": [
            {
                "layer": i + 1,
                "head": j + 1,
                "values": [round(float(numbers[column.name][i, j]), 6) for column in shown],
            }
            for i in range(layers)
            for j in range(heads)
        ],
        "chosen": layer * heads + head,
    }


def ranking_table(numbers: dict[str, np.ndarray]) -> Table:
    """The same numbers with all their digits, one row per head; NaN: the number has no meaning here."""
    layer, head = np.indices(numbers["entropy"].shape)  # (L, H) each
    titles = {column.name: _(column.title) for column in COLUMNS}
    found = {titles[name]: each.ravel() for name, each in numbers.items()}
    return {_("layer"): layer.ravel() + 1, _("head"): head.ravel() + 1, **found}
