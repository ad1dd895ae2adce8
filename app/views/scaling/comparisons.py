"""Every query is compared with every key (paper, section 4 and table 1): how many comparisons, and how many matter.

Each head of each layer makes one score for each query and key: n x n in self-attention, T x S in encoder-decoder
attention. Afterwards the mask forbids some of these cells. A weight counts as attention if it is above a threshold.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from app.figures.charts import FAINT, Figure, axis, chart_layout, line_at
from app.figures.panels import FigurePart
from app.figures.shares import Share
from app.figures.theme import kind_color
from app.languages import _, pgettext
from app.languages.names_of_the_model import KINDS_INSIDE
from app.languages.numbers import formatted
from transformer.model.attention_kinds import Kind

THRESHOLDS = np.geomspace(1e-4, 1.0, 81)
POWERS = [0.0001, 0.001, 0.01, 0.1, 1]  # on the axis of weights


@dataclass(frozen=True)
class Counted:
    """Comparisons of one kind of attention over all its layers and heads."""

    layers: int
    heads: int
    queries: int
    keys: int
    allowed: int  # cells that the mask lets through, over all layers and heads
    above: int  # of these, cells with a weight above the threshold
    mass: float  # the share of all attention that the cells counted in `above` have

    @property
    def cells(self) -> int:
        """Scores that are computed."""
        return self.layers * self.heads * self.queries * self.keys

    @property
    def share(self) -> float:
        """The share of the allowed cells that have a weight above the threshold."""
        return self.above / self.allowed if self.allowed else 0.0


def count(weights: np.ndarray, mask: np.ndarray, threshold: float) -> Counted:
    """Counts the comparisons of one kind of attention: weights and mask (L, H, Q, K), True = may attend."""
    layers, heads, queries, keys = weights.shape
    strong = weights > threshold
    whole = float(weights.sum(dtype=np.float64))
    return Counted(
        layers,
        heads,
        queries,
        keys,
        int(mask.sum()),
        int(strong.sum()),
        float(weights[strong].sum(dtype=np.float64)) / whole if whole else 0.0,
    )


def shares_above(values: np.ndarray) -> np.ndarray:
    """For each of `THRESHOLDS` the share of these values that are above it; 0 if there are no values."""
    ordered = np.sort(values.astype(np.float64))
    above: np.ndarray = len(ordered) - np.searchsorted(ordered, THRESHOLDS, side="right")
    return above / max(len(ordered), 1)


def share_curves(weights: Mapping[Kind, np.ndarray], masks: Mapping[Kind, np.ndarray], threshold: float) -> Figure:
    """The share of allowed cells above each threshold, one line per kind of attention; the chosen threshold is
    marked. Weights and masks are (L, H, Q, K)."""
    data: list[FigurePart] = []
    for kind, values in weights.items():
        shares, name = shares_above(values[masks[kind]]), _(KINDS_INSIDE[kind])
        line = {
            "type": "scatter",
            "x": THRESHOLDS.astype(np.float32),
            "y": shares.astype(np.float32),
            "mode": "lines",
            "line": {"color": kind_color(kind), "width": 3, "dash": "dash" if kind == "cross" else "solid"},
            "name": name,
            "hovertemplate": _("%{y:.1%} of the cells have more than %{x:.2g}") + f"<extra>{name}</extra>",
        }
        data.append(line)
    more = {
        "shapes": [line_at(x=threshold, line={"color": FAINT, "width": 3})],
        "xaxis": axis(
            _("weight"), [-4, 0], type="log",
            tickvals=POWERS, ticktext=[formatted(power, "g") for power in POWERS],
        ),
        "yaxis": axis(_("cells with more than this weight"), [0, 1.03], tickformat=".0%"),
        "showlegend": True,
    }  # fmt: skip
    title = _("How many cells get any attention, over all layers and heads")
    return Figure(data, chart_layout(title, 380, top=72) | more)


def count_table(found: Mapping[Kind, Counted], threshold: float) -> dict[str, list[str] | list[int]]:
    """One row per kind of attention, and one for all."""
    rows = list(found.values())
    above, allowed, cells = (sum(getattr(row, name) for row in rows) for name in ("above", "allowed", "cells"))
    shares = [*(row.share for row in rows), above / max(allowed, 1)]
    size = [f"{r.layers} × {r.heads} × {r.queries} × {r.keys}" for r in rows]
    return {
        _("attention"): [*(_(KINDS_INSIDE[kind]) for kind in found), pgettext("kinds of attention", "all")],
        _("layers × heads × queries × keys"): [*size, ""],
        _("comparisons"): [*(row.cells for row in rows), cells],
        _("allowed by the mask"): [*(row.allowed for row in rows), allowed],
        _("weight above {threshold:g}", threshold=threshold): [*(row.above for row in rows), above],
        _("share of the allowed"): [formatted(Share(share), ".1%") for share in shares],
        _("attention that they hold"): [*(formatted(Share(row.mass), ".1%") for row in rows), ""],
    }


def share_table(weights: Mapping[Kind, np.ndarray], masks: Mapping[Kind, np.ndarray]) -> dict[str, np.ndarray]:
    """The numbers of `share_curves`: one row per threshold, one column per kind of attention."""
    return {
        _("weight"): THRESHOLDS,
        **{_(KINDS_INSIDE[kind]): shares_above(values[masks[kind]]) for kind, values in weights.items()},
    }
