"""Scores before the mask, the mask, scores after it, weights: four panels of one head, in which a cell can be followed.

    softmax(mask(Q K^T / sqrt(d_k)))         (equation 1 with section 3.2.3)

Cells whose score after the mask is minus infinity are grey. Masked cells are grey in the panel of weights, too, to tell
their weight, which is exactly 0, from a small one.
"""

from dataclasses import dataclass
from functools import partial

import numpy as np

from app.figures.attention_stages import Stage
from app.figures.axes import TokenAxis
from app.figures.charts import Figure, chart_layout
from app.figures.mask_matrix import letters, reason_heat
from app.figures.mask_reasons import Parts
from app.figures.panels import (
    TEXT_FROM,
    Cell,
    FigurePart,
    cell_frames,
    heat,
    panel_axes,
    panel_height,
    panels_top,
    words,
)
from app.figures.shares import weight_text
from app.figures.tensor import label_width, number_text
from app.figures.theme import INK, MASKED, fixed, number, signed_scale, text_on_signed, text_on_weight, weight_scale
from app.languages import _, gettext_noop

NUMBERS_UP_TO = 18  # columns of a panel; beyond, only what is masked is marked
SHORT_FROM = 8  # columns from which numbers have one digit after the point, so that they can be large
LARGEST = 16  # px of a number; smaller where cells are narrow (chart.js), or low
ROW = 24  # px
MARKS_UP_TO = 26
PANELS = (gettext_noop("scores before"), gettext_noop("mask"), gettext_noop("scores after"), gettext_noop("weights"))


@dataclass(frozen=True)
class MaskedHead:
    """The four stages of one head, (Q, K) each. `mask`: True = may attend; `parts` say why not."""

    scores: np.ndarray
    mask: np.ndarray
    masked_scores: np.ndarray
    weights: np.ndarray
    parts: Parts
    queries: TokenAxis
    keys: TokenAxis

    @property
    def largest_masked(self) -> float:
        """The largest weight on a forbidden cell. It is 0 if the mask works."""
        return float(np.abs(self.weights[~self.mask]).max()) if (~self.mask).any() else 0.0


def masking_figure(head: MaskedHead, *, title: str, cell: Cell) -> Figure:
    """The four stages, drawn as they are; `cell` is the chosen query and key, from 0."""
    scores, mask, masked_scores, weights, parts = head.scores, head.mask, head.masked_scores, head.weights, head.parts
    queries, keys = head.queries, head.keys
    rows, columns = mask.shape
    limit = float(np.abs(scores).max()) or 1.0
    finite = np.isfinite(masked_scores)
    template = "%{y}<br>%{x}<br>%{z:.4f}<extra></extra>"
    hover: FigurePart = {"hovertemplate": template, "hoverinfo": "all", "hoverongaps": False}
    signed, after = signed_scale(), np.where(finite, masked_scores, np.nan).astype(np.float32)
    data = [
        heat(scores.astype(np.float32), signed, -limit, limit, 1, **hover),
        reason_heat(mask, parts, 2),
        heat(after, signed, -limit, limit, 3, **hover),
        _grey(~finite, 3),
        heat(np.where(mask, weights, np.nan).astype(np.float32), weight_scale(), 0, 1, 4, **hover),
        _grey(~mask, 4),
    ]
    if columns <= MARKS_UP_TO and panel_height(rows, ROW) >= TEXT_FROM * rows:
        ink, beside = INK, label_width(queries.tokens, 13) + 40
        text = np.vectorize(partial(_score, columns=columns), otypes=[object])
        rounded = np.vectorize(lambda score: "−∞" if np.isinf(score) else fixed(score, 0), otypes=[object])
        inks = np.vectorize(lambda score: text_on_signed(abs(float(score)) / limit), otypes=[object])
        weighed = np.vectorize(partial(_weight, columns=columns), otypes=[object])(weights, mask)
        on = np.vectorize(lambda weight: text_on_weight(float(weight)), otypes=[object])(weights)
        data += [
            _texts(text(scores), inks(scores), beside, 1, rounded(scores)),
            _texts(letters(mask, parts), np.full(mask.shape, ink), beside, 2),
            _texts(text(masked_scores), np.where(finite, inks(scores), ink), beside, 3, rounded(masked_scores)),
            _texts(weighed, np.where(mask, on, ink), beside, 4),
        ]
    axes = panel_axes([_(name) for name in PANELS], queries, keys, per_line=2, across=0.03, between=_gap(rows, keys))
    shapes = [shape for panel in (1, 2, 3, 4) for shape in cell_frames(cell, columns, panel)]
    layout = chart_layout(title, _height(rows, keys), top=panels_top(keys, 2), bottom=10)
    return Figure(data, layout | axes | {"shapes": shapes})


def plain_zero(weight: float) -> str:
    """The text of a masked weight: its true value, so that it is "0" only if the weight is exactly 0."""
    return number(weight, 2)


def _score(score: float, columns: int) -> str:
    if np.isinf(score):
        return "−∞"
    if columns > NUMBERS_UP_TO:
        return ""
    return fixed(score, 1) if columns >= SHORT_FROM else number_text(float(score))


def _weight(weight: float, may: bool, columns: int) -> str:
    if not may:
        return plain_zero(float(weight))
    return weight_text(float(weight)) if columns <= NUMBERS_UP_TO else ""


def _height(rows: int, keys: TokenAxis) -> int:
    return 2 * panels_top(keys, 2) + 2 * panel_height(rows, ROW) - 10


def _gap(rows: int, keys: TokenAxis) -> float:
    """The share of the height between the two lines of panels: room for the tokens above the second line."""
    between = panels_top(keys, 2) - 20
    return between / (between + 2 * panel_height(rows, ROW))


def _grey(where: np.ndarray, panel: int) -> FigurePart:
    """Marks cells whose score is minus infinity, or whose weight is 0 for that reason."""
    return heat(where.astype(np.int8), [(0, "rgba(0, 0, 0, 0)"), (1, MASKED)], 0, 1, panel)


def _texts(
    texts: np.ndarray, inks: np.ndarray, beside: float, panel: int, rounded: np.ndarray | None = None
) -> FigurePart:
    """The texts (Q, K) of the cells of a panel; "" is not drawn. Narrow cells have the `rounded` texts.

    A line of the picture has two panels, and `beside` px of its width belong to no cell.
    """
    q, k = np.nonzero(texts != "")
    shown = texts[q, k].tolist()
    room = {
        "columns": 2 * texts.shape[1],
        "beside": beside,
        "short": (texts if rounded is None else rounded)[q, k].tolist(),
    }
    x, y = k.astype(np.int16), q.astype(np.int16)
    size = min(LARGEST, panel_height(len(texts), ROW) // len(texts))
    return words(x, y, shown, inks[q, k].tolist(), size, panel, meta=room)


def row_stages(products: np.ndarray, head: MaskedHead, query: int) -> list[Stage]:
    """One query's row of the dot products (Q, K) and of the stages, for `app.figures.attention_stages`."""
    weights = head.weights[query]
    return [
        Stage("q·k", products[query]),
        Stage(_("before"), head.scores[query]),
        Stage(_("mask"), head.mask[query]),
        Stage(_("after"), head.masked_scores[query]),
        Stage(_("weight"), weights, float(weights.sum(dtype=np.float64))),
    ]


def masking_alt(head: MaskedHead, title: str) -> str:
    """What the picture says, in words."""
    forbidden, left = int((~head.mask).sum()), plain_zero(head.largest_masked)
    return _(
        "{title}. Four panels: scores before the mask, the mask, scores after it, weights. {forbidden} of {cells} "
        "cells are masked: their score becomes minus infinity, their weight {left}. The largest weight is "
        "{largest:.2f}.",
        title=title,
        forbidden=forbidden,
        cells=head.mask.size,
        left=left,
        largest=float(head.weights.max()),
    )


def masking_table(head: MaskedHead) -> dict[str, list[str] | np.ndarray]:
    """All cells, one per line."""
    rows, columns = head.mask.shape
    return {
        _("query"): np.repeat(np.array(head.queries.names, object), columns),
        _("key"): list(head.keys.names) * rows,
        _("score before"): head.scores.ravel(),
        _("may attend"): head.mask.ravel(),
        _("score after"): head.masked_scores.ravel(),
        _("weight"): head.weights.ravel(),
    }
