"""Scores of one head as a matrix: q · k in every cell, before or after the division, before or after the mask.

Rows are queries, columns are keys. Scores are signed, so the colours diverge around 0; a cell that the mask has set to
minus infinity is grey and says so. The mask itself is drawn as what it is: which query may attend to which key.
"""

import numpy as np

from app.figures.axes import TokenAxis, ticks
from app.figures.charts import Figure, color_bar, plain_axis, settled
from app.figures.mask_matrix import LETTERS_UP_TO, letters, reason_heat, reason_legend, reasons
from app.figures.mask_reasons import Parts
from app.figures.panels import BELOW, Piece, frame, words
from app.figures.tensor import label_width, numbers_in_cells
from app.figures.theme import INK, MASKED, SMALL_TICK_SIZE, TICK_SIZE, role_color, signed_scale

NUMBERS_UP_TO = 32  # rows or columns


def score_matrix(
    scores: np.ndarray,
    queries: TokenAxis,
    keys: TokenAxis,
    *,
    title: str,
    limit: float | None = None,
    row: int | None = None,
) -> Figure:
    """scores (Q, K), -inf where masked, drawn as they are.

    Args:
        limit: the colours go from -limit to limit, so that stages can be compared; None: the largest absolute score.
        row: a row to frame, from 0.
    """
    rows, columns = scores.shape
    if (rows, columns) != (len(queries), len(keys)):
        raise ValueError(f"scores {scores.shape} for {len(queries)} queries and {len(keys)} keys")
    finite = np.isfinite(scores)
    largest = limit or (float(np.abs(scores[finite]).max()) if finite.any() else 1.0) or 1.0
    data: list[Piece] = [
        {
            "type": "heatmap",
            "z": np.where(finite, scores, np.nan).astype(np.float32),  # (Q, K)
            "colorscale": signed_scale(),
            "zmin": -largest,
            "zmax": largest,
            "xgap": 1,
            "ygap": 1,
            "hoverongaps": False,
            "hovertemplate": "%{y}<br>and %{x}<br>%{z:.4f}<extra></extra>",
            "colorbar": color_bar(),
        }
    ]
    if max(rows, columns) <= NUMBERS_UP_TO:
        data.append(numbers_in_cells(scores, largest, label_width(queries.tokens, TICK_SIZE)))
    return Figure(data, _layout(queries, keys, title, row))


def may_look(
    mask: np.ndarray,
    parts: Parts,
    queries: TokenAxis,
    keys: TokenAxis,
    *,
    title: str,
    row: int | None = None,
) -> Figure:
    """mask (Q, K), True = may attend, in the colours of the page Masks; parts: why not."""
    data = [reason_heat(mask, parts)]
    if len(keys) <= LETTERS_UP_TO:
        q, k = np.nonzero(~mask)
        data.append(words(k, q, letters(mask, parts)[q, k].tolist(), INK, 11))
    return Figure([*data, *reason_legend([reasons(mask, parts)])], _layout(queries, keys, title, row))


def _layout(queries: TokenAxis, keys: TokenAxis, title: str, row: int | None) -> Piece:
    """Queries down, keys above; a colour bar or a legend has its place at the foot."""
    rows, columns = len(queries), len(keys)
    large = max(rows, columns) <= NUMBERS_UP_TO
    size = TICK_SIZE if large else SMALL_TICK_SIZE
    layout = settled(title, 150 + 46 + rows * (30 if large else 14), top=150, bottom=46) | {
        "plot_bgcolor": MASKED,
        "showlegend": True,
        "legend": BELOW,
        "xaxis": plain_axis(
            f"keys: {keys.title}",
            [-0.5, columns - 0.5],
            side="top",
            tickangle=-45,
            tickvals=list(range(columns)),
            ticktext=ticks(keys.tokens),
            tickfont={"size": size, "color": role_color(keys.role)},
        ),
        "yaxis": plain_axis(
            "reads" if queries.predicts else "looks",
            [rows - 0.5, -0.5],
            tickvals=list(range(rows)),
            ticktext=ticks(queries.tokens),
            tickfont={"size": size, "color": role_color(queries.role)},
        ),
    }
    if row is not None:
        layout["shapes"] = [frame(-0.5, columns - 0.5, row - 0.5, row + 0.5, 4)]
    return layout
