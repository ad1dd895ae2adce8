"""Scores of one head as a matrix: q · k in every cell, before or after the division, before or after the mask.

Rows are queries, columns are keys. Scores are signed, so the colours diverge around 0; a cell that the mask has set to
minus infinity is grey and says so.
"""

import numpy as np

from app.figures.axes import TokenAxis, ticks
from app.figures.charts import Figure, plain_axis, settled
from app.figures.panels import Piece, frame, words
from app.figures.tensor import ink_on, number_text
from app.theme import CELL_SIZE, MASKED, SMALL_TICK_SIZE, TICK_SIZE, role_color, signed_scale

NUMBERS_UP_TO = 32  # rows or columns


def score_matrix(
    scores: np.ndarray,
    queries: TokenAxis,
    keys: TokenAxis,
    *,
    title: str,
    limit: float | None = None,
    row: int | None = None,
    dark: bool = False,
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
            "colorscale": signed_scale(dark),
            "zmin": -largest,
            "zmax": largest,
            "xgap": 1,
            "ygap": 1,
            "hoverongaps": False,
            "hovertemplate": "%{y}<br>and %{x}<br>%{z:.4f}<extra></extra>",
            "colorbar": {"thickness": 10, "outlinewidth": 0, "tickfont": {"size": 12}},
        }
    ]
    numbers = max(rows, columns) <= NUMBERS_UP_TO
    if numbers:
        q, k = (index.ravel() for index in np.indices(scores.shape))
        values = scores.ravel()
        colors = [ink_on(abs(float(v)) / largest, dark) if np.isfinite(v) else "#7d8594" for v in values]
        digits = [number_text(float(v)) if np.isfinite(v) else "−∞" for v in values]
        data.append(words(k.astype(np.int16), q.astype(np.int16), digits, colors, CELL_SIZE - 1))
    size = TICK_SIZE if numbers else SMALL_TICK_SIZE
    layout = settled(title, 150 + 30 + rows * (34 if numbers else 14), top=150, bottom=14) | {
        "plot_bgcolor": MASKED,
        "xaxis": plain_axis(
            f"looked at: {keys.title}",
            dark,
            [-0.5, columns - 0.5],
            side="top",
            tickangle=-45,
            tickvals=list(range(columns)),
            ticktext=ticks(keys.tokens),
            tickfont={"size": size, "color": role_color(keys.role, dark)},
        ),
        "yaxis": plain_axis(
            "reads" if queries.predicts else "looks",
            dark,
            [rows - 0.5, -0.5],
            tickvals=list(range(rows)),
            ticktext=ticks(queries.tokens),
            tickfont={"size": size, "color": role_color(queries.role, dark)},
        ),
    }
    if row is not None:
        layout["shapes"] = [frame(-0.5, columns - 0.5, row - 0.5, row + 0.5, 4)]
    return Figure(data, layout)
