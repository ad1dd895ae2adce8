"""One head as a large matrix: softmax(Q K^T / sqrt(d_k)) of equation 1, a number in every cell.

Rows are queries, columns are keys, so each row sums to 1. Masked cells are grey and empty; cells of weight 0 are
neither grey nor empty.
"""

from typing import Any

import numpy as np

from app.figures.axes import TokenAxis, plotly_text, ticks, visible
from app.figures.charts import Figure, chart_layout, color_bar
from app.figures.panels import BARE, Cell, FigurePart, frame, heat, slanted_overhang, tick_height, words, wrap_title
from app.figures.shares import Share, weight_text
from app.figures.theme import (
    CELL_SIZE,
    MASKED,
    SMALL_TICK_SIZE,
    TICK_SIZE,
    Role,
    role_color,
    text_on_weight,
    weight_scale,
)
from app.languages import _, ngettext

NUMBERS_UP_TO = 32  # rows or columns; with more, numbers would not be legible: hover and table have them
SMALLEST_CELL = 30  # px, so that a number fits
LEAST_HEIGHT = 110  # px, of all rows: the longest word of the turned title, "(translation):", fits beside one row


def attention_matrix(
    weights: np.ndarray,
    queries: TokenAxis,
    keys: TokenAxis,
    *,
    title: str,
    mask: np.ndarray | None = None,
    row: int | None = None,
    cell: Cell | None = None,
    clicks: bool = False,
) -> Figure:
    """The weights of one head.

    Args:
        weights: (Q, K), drawn as they are.
        queries, keys: the tokens of rows and columns.
        title: names kind, layer and head.
        mask: (Q, K) boolean, True = may attend; None = everyone may.
        row: a row to frame, from 0.
        cell: a cell to frame.
        clicks: whether a click on a cell is reported (see chart.js).
    """
    rows, columns = weights.shape
    if (rows, columns) != (len(queries), len(keys)):
        raise ValueError(f"weights {weights.shape} for {len(queries)} queries and {len(keys)} keys")
    allowed = np.ones(weights.shape, dtype=bool) if mask is None else mask
    drawn = np.where(allowed, weights, np.nan).astype(np.float32)  # (Q, K)
    has_numbers = max(rows, columns) <= NUMBERS_UP_TO
    tick_size = TICK_SIZE if has_numbers else SMALL_TICK_SIZE
    top, height = 66 + tick_height(keys, tick_size), max(rows * (38 if has_numbers else 18), LEAST_HEIGHT)
    data: list[FigurePart] = [
        heat(
            drawn,
            weight_scale(),
            0,
            1,
            hoverinfo="all",
            hovertemplate=_place(queries) + "<br>%{z:.6~r}<extra></extra>",
            hoverongaps=False,
            showscale=True,
            colorbar=color_bar([0, 0.2, 0.5, 1]),
            meta={"clicks": clicks},
        )
    ]
    if has_numbers:
        data.append(_numbers(weights, allowed))
    if queries.predicts:  # a second axis needs a trace to be drawn
        data.append(
            {"type": "scatter", "x": [None], "y": [None], "yaxis": "y2", "showlegend": False, "hoverinfo": "skip"}
        )
    # The slanted name of the last column extends beyond the cells. Names at the right, if any, make room for it.
    right = 10 if queries.predicts else slanted_overhang(keys)
    layout = chart_layout(title, top + 60 + height, top=top, bottom=60, right=right)
    layout |= {"plot_bgcolor": MASKED, "shapes": _frames(rows, columns, row, cell), **_axes(queries, keys, tick_size)}
    wrap_title(layout["yaxis"]["title"], height)
    return Figure(data, layout)


def _axes(queries: TokenAxis, keys: TokenAxis, tick_size: int) -> FigurePart:
    """The keys at the top, the queries at the left and, for decoder rows, what each predicts at the right."""

    def axis(tokens: tuple[str, ...], role: Role, name: str, **more: Any) -> FigurePart:
        color = role_color(role)
        return {
            **BARE,
            "tickvals": list(range(len(tokens))),
            "ticktext": ticks(tokens),
            "tickfont": {"size": tick_size, "color": color},
            "title": {"text": plotly_text(name), "font": {"size": 14, "color": color}, "standoff": 8},
            **more,
        }

    across = {"side": "top", "tickangle": -45, "range": [-0.5, len(keys) - 0.5], "automargin": False}
    down = {"range": [len(queries) - 0.5, -0.5], "automargin": True}
    name = _("{side}: reads", side=queries.title) if queries.predicts else queries.title
    axes = {
        "xaxis": axis(keys.tokens, keys.role, keys.title, **across),
        "yaxis": axis(queries.tokens, queries.role, name, **down),
    }
    if queries.predicts:
        axes["yaxis2"] = axis(queries.predicts, queries.role, _("predicts"), side="right", overlaying="y", **down)
    return axes


def _frames(rows: int, columns: int, row: int | None, cell: Cell | None) -> list[FigurePart]:
    """The frames around a row and a cell, if any."""
    frames = [] if row is None else [frame(-0.5, columns - 0.5, row - 0.5, row + 0.5, 4)]
    if cell is not None:
        q, k = cell
        frames.append(frame(k - 0.5, k + 0.5, q - 0.5, q + 0.5, 2.5))
    return frames


def _place(queries: TokenAxis) -> str:
    """A cell in words, as a template of Plotly's."""
    if queries.predicts:
        return _("reads {query}<br>attends to {key}", query="%{y}", key="%{x}")
    return _("{query}<br>attends to {key}", query="%{y}", key="%{x}")


def _numbers(weights: np.ndarray, allowed: np.ndarray) -> FigurePart:
    """A number in each allowed cell, in black or white, whichever has more contrast."""
    q, k = np.nonzero(allowed)
    shown = [float(w) for w in weights[q, k]]
    colors = [text_on_weight(w) for w in shown]
    return words(k.astype(np.int16), q.astype(np.int16), [weight_text(w) for w in shown], colors, CELL_SIZE)


def matrix_width(queries: TokenAxis, keys: TokenAxis) -> int:
    """The width in px below which the picture scrolls sideways instead of shrinking further."""
    cell = SMALLEST_CELL if max(len(queries), len(keys)) <= NUMBERS_UP_TO else 12
    right = _names_width(queries.predicts) if queries.predicts else slanted_overhang(keys)
    return _names_width(queries.tokens) + len(keys) * cell + right


def _names_width(tokens: tuple[str, ...]) -> int:
    """About how many px the names beside the rows take, with the title of their axis."""
    return int(50 + 0.62 * TICK_SIZE * max(len(visible(token)) for token in tokens))


def matrix_table(weights: np.ndarray, queries: TokenAxis, keys: TokenAxis) -> dict[str, list[str] | np.ndarray]:
    """The same numbers as columns of a table, the first of which names the rows."""
    return {_("query"): list(queries.names), **{name: weights[:, k] for k, name in enumerate(keys.names)}}


def matrix_alt(weights: np.ndarray, queries: TokenAxis, keys: TokenAxis, title: str) -> str:
    """What the picture says, in words: for each query, the key that it attends to most."""
    lines = []
    for name, row in zip(queries.names[:40], weights[:40], strict=True):
        k = int(row.argmax())
        lines.append(
            _("{query}: most on {key}, {weight:.2f}", query=name, key=keys.names[k], weight=Share(row[k]))
            if row[k]
            else _("{query}: all weights are 0", query=name)
        )
    if len(queries) > 40:
        lines.append(
            ngettext("and {count} more row in the table", "and {count} more rows in the table", len(queries) - 40)
        )
    return _(
        "{title}. {rows} rows (queries) by {columns} columns (keys). {lines}.",
        title=title,
        rows=len(queries),
        columns=len(keys),
        lines="; ".join(lines),
    )
