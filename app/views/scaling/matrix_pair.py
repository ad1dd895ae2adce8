"""Two matrices of weights of the same queries and keys beside each other, in one picture and one colour scale."""

import numpy as np

from app.figures.axes import TokenAxis, plotly_text, ticks
from app.figures.charts import Figure, plain_axis, settled
from app.figures.panels import Piece, leaning_out, on, tick_height, words
from app.figures.theme import (
    CELL_SIZE,
    INK,
    MASKED,
    SMALL_TICK_SIZE,
    role_color,
    text_on_weight,
    weight_scale,
    weight_text,
)

NUMBERS_UP_TO = 10  # columns; beyond, digits would not be legible at half the width


def matrix_pair(
    matrices: tuple[np.ndarray, np.ndarray],
    names: tuple[str, str],
    queries: TokenAxis,
    keys: TokenAxis,
    *,
    title: str,
    mask: np.ndarray,
) -> Figure:
    """Two sets of weights (Q, K), 0 to 1; forbidden cells are empty.

    Args:
        names: what stands above each.
        mask: (Q, K), True = may attend.
    """
    rows, columns = matrices[0].shape
    size = 14 if columns <= 20 else SMALL_TICK_SIZE
    above_cells = tick_height(keys, size) + 8
    top = above_cells + 68
    data: list[Piece] = []
    axes: Piece = {}
    above: list[Piece] = []
    panels = zip(matrices, names, ((0.0, 0.485), (0.515, 1.0)), strict=True)
    for panel, (matrix, name, domain) in enumerate(panels, start=1):
        cells = {
            "type": "heatmap",
            "z": np.where(mask, matrix, np.nan).astype(np.float32),
            "zmin": 0,
            "zmax": 1,
            "xgap": 1,
            "ygap": 1,
            "colorscale": weight_scale(),
            "showscale": False,
            "hoverongaps": False,
            "hovertemplate": "%{y}<br>attends to %{x}<br>%{z:.4f}<extra>" + plotly_text(name) + "</extra>",
        }
        data.append(cells | on(panel))
        if columns <= NUMBERS_UP_TO:
            q, k = np.nonzero(mask)
            shown = [float(w) for w in matrix[q, k]]
            digits, colors = [weight_text(w) for w in shown], [text_on_weight(w) for w in shown]
            data.append(words(k.astype(np.int16), q.astype(np.int16), digits, colors, CELL_SIZE, panel))
        suffix = "" if panel == 1 else "2"
        axes[f"xaxis{suffix}"] = plain_axis(
            "", [-0.5, columns - 0.5], domain=domain, anchor=f"y{suffix}", side="top", tickangle=-45,
            tickvals=list(range(columns)), ticktext=ticks(keys.tokens), automargin=False,
            tickfont={"size": size, "color": role_color(keys.role)},
        )  # fmt: skip
        axes[f"yaxis{suffix}"] = plain_axis(
            "reads" if queries.predicts and panel == 1 else "", [rows - 0.5, -0.5], anchor=f"x{suffix}",
            tickvals=list(range(rows)),
            ticktext=ticks(queries.tokens), showticklabels=panel == 1,
            tickfont={"size": size, "color": role_color(queries.role)},
        )  # fmt: skip
        heading = {
            "text": plotly_text(name), "x": domain[0], "xref": "paper", "xanchor": "left", "y": 1, "yref": "paper",
            "yanchor": "bottom", "yshift": above_cells, "showarrow": False, "font": {"size": 15, "color": INK},
        }  # fmt: skip
        above.append(heading)
    height = top + 20 + max(rows * (26 if rows <= 32 else 14), 40)
    layout = settled(title, height, top=top, bottom=20, right=leaning_out(keys)) | {
        "plot_bgcolor": MASKED,
        "annotations": above,
    }
    return Figure(data, layout | axes)


def pair_table(
    matrices: tuple[np.ndarray, np.ndarray], names: tuple[str, str], queries: TokenAxis, keys: TokenAxis
) -> dict[str, list[str] | np.ndarray]:
    """Both as columns of one table."""
    table: dict[str, list[str] | np.ndarray] = {"query": list(queries.names)}
    for matrix, name in zip(matrices, names, strict=True):
        table |= {f"{name}: {key}": matrix[:, k] for k, key in enumerate(keys.names)}
    return table
