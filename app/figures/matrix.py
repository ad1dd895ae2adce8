"""One head as a large matrix: softmax(Q K^T / sqrt(d_k)) of equation 1, a number in every cell.

Rows are queries (who looks), columns are keys (what is looked at), so each row sums to 1. Cells that the mask forbids
are grey and empty, which a weight of 0 is not.
"""

import csv
import io

import numpy as np
import plotly.graph_objects as go

from app.figures.axes import TokenAxis, plotly_text, ticks
from app.theme import (
    CELL_SIZE,
    CHOSEN,
    MASKED,
    SMALL_TICK_SIZE,
    TICK_SIZE,
    TITLE_SIZE,
    role_color,
    text_on_weight,
    weight_scale,
    weight_text,
)

NUMBERS_UP_TO = 32  # rows or columns; beyond, numbers would not be legible and hover and table have them
SMALLEST_CELL = 30  # px, so that a number fits
COLOR_BAR = {
    "orientation": "h",
    "thickness": 8,
    "len": 200,
    "lenmode": "pixels",
    "x": 0,
    "xanchor": "left",
    "xpad": 0,
    "y": 0,
    "yanchor": "top",
    "ypad": 14,
    "tickvals": [0, 0.2, 0.5, 1],
    "outlinewidth": 0,
}


def attention_matrix(
    weights: np.ndarray,
    queries: TokenAxis,
    keys: TokenAxis,
    *,
    title: str,
    mask: np.ndarray | None = None,
    row: int | None = None,
    dark: bool = False,
) -> go.Figure:
    """The weights of one head.

    Args:
        weights: (Q, K), drawn as they are.
        queries, keys: who is on the rows and on the columns.
        title: names kind, layer and head.
        mask: (Q, K) boolean, True = may attend; None = everyone may.
        row: a row to frame, from 0.
    """
    rows, columns = weights.shape
    if (rows, columns) != (len(queries), len(keys)):
        raise ValueError(f"weights {weights.shape} for {len(queries)} queries and {len(keys)} keys")
    allowed = np.ones(weights.shape, dtype=bool) if mask is None else mask
    drawn = np.where(allowed, weights, np.nan).astype(np.float32)  # (Q, K)
    numbers = max(rows, columns) <= NUMBERS_UP_TO
    tick_size = TICK_SIZE if numbers else SMALL_TICK_SIZE
    cell = 38 if numbers else 18
    top = 150
    figure = go.Figure(
        go.Heatmap(
            z=drawn,
            hovertemplate=("reads " if queries.predicts else "") + "%{y}<br>looks at %{x}<br>%{z:.4f}<extra></extra>",
            hoverongaps=False,
            colorscale=weight_scale(dark),
            zmin=0,
            zmax=1,
            xgap=1,
            ygap=1,
            colorbar=COLOR_BAR,
        )
    )
    if numbers:
        figure.add_trace(_numbers(weights, allowed, dark))
    if row is not None:
        figure.add_shape(
            type="rect",
            x0=-0.5,
            x1=columns - 0.5,
            y0=row - 0.5,
            y1=row + 0.5,
            line={"color": CHOSEN, "width": 4},
        )
    if queries.predicts:  # the right edge names what each row predicts; an axis needs a trace to be drawn
        figure.add_scatter(x=[None], y=[None], yaxis="y2", showlegend=False, hoverinfo="skip")
    axis = {"showgrid": False, "zeroline": False, "fixedrange": True, "tickmode": "array", "ticks": ""}
    figure.update_layout(
        title={
            "text": plotly_text(title),
            "font": {"size": TITLE_SIZE},
            "x": 0,
            "xanchor": "left",
            "y": 0.995,
            "yanchor": "top",
        },
        height=top + 60 + max(rows * cell, 60),
        margin={"l": 10, "r": 10, "t": top, "b": 60, "pad": 2},
        plot_bgcolor=MASKED,
        dragmode=False,
        xaxis={
            **axis,
            "side": "top",
            "tickvals": list(range(columns)),
            "ticktext": ticks(keys.tokens),
            "tickangle": -45,
            "tickfont": {"size": tick_size, "color": role_color(keys.role, dark)},
            "title": {
                "text": plotly_text(keys.title),
                "font": {"size": 14, "color": role_color(keys.role, dark)},
                "standoff": 6,
            },
            "range": [-0.5, columns - 0.5],
            "automargin": False,
        },
        yaxis={
            **axis,
            "tickvals": list(range(rows)),
            "ticktext": ticks(queries.tokens),
            "tickfont": {"size": tick_size, "color": role_color(queries.role, dark)},
            "title": {
                "text": plotly_text(f"{queries.title}: reads" if queries.predicts else queries.title),
                "font": {"size": 14, "color": role_color(queries.role, dark)},
                "standoff": 8,
            },
            "range": [rows - 0.5, -0.5],
            "automargin": True,
        },
    )
    if queries.predicts:
        figure.update_layout(
            yaxis2={
                **axis,
                "side": "right",
                "overlaying": "y",
                "tickvals": list(range(rows)),
                "ticktext": ticks(queries.predicts),
                "tickfont": {"size": tick_size, "color": role_color(queries.role, dark)},
                "title": {
                    "text": "predicts",
                    "font": {"size": 14, "color": role_color(queries.role, dark)},
                    "standoff": 8,
                },
                "range": [rows - 0.5, -0.5],
                "automargin": True,
            }
        )
    return figure


def _numbers(weights: np.ndarray, allowed: np.ndarray, dark: bool) -> go.Scatter:
    """A number in each allowed cell, in whichever of black and white is read better there."""
    q, k = np.nonzero(allowed)
    shown = [float(w) for w in weights[q, k]]
    return go.Scatter(
        x=k.astype(np.int16),
        y=q.astype(np.int16),
        text=[weight_text(w) for w in shown],
        mode="text",
        textfont={"size": CELL_SIZE, "color": [text_on_weight(w, dark) for w in shown]},
        hoverinfo="skip",
        showlegend=False,
    )


def matrix_width(rows_have_two_names: bool, columns: int) -> int:
    """The width in px below which the picture scrolls sideways instead of shrinking further."""
    cell = SMALLEST_CELL if columns <= NUMBERS_UP_TO else 12
    return 190 + 130 * rows_have_two_names + columns * cell


def matrix_table(weights: np.ndarray, queries: TokenAxis, keys: TokenAxis) -> dict[str, list[str] | np.ndarray]:
    """The same numbers as columns of a table, the first of which names the rows."""
    return {"query": list(queries.names), **{name: weights[:, k] for k, name in enumerate(keys.names)}}


def matrix_csv(weights: np.ndarray, queries: TokenAxis, keys: TokenAxis) -> str:
    """The same numbers with all their digits, as CSV: one line a query, one column a key.

    Every name starts with its position, so that no cell can be taken for a formula by a spreadsheet.
    """
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    writer.writerow(["query \\ key", *keys.names])
    for name, row in zip(queries.names, weights, strict=True):
        writer.writerow([name, *(str(np.float32(w)) for w in row)])
    return buffer.getvalue()


def matrix_alt(weights: np.ndarray, queries: TokenAxis, keys: TokenAxis, title: str) -> str:
    """What the picture says, in words: for each row, where it looks most."""
    lines = []
    for name, row in zip(queries.names[:40], weights[:40], strict=True):
        k = int(row.argmax())
        lines.append(f"{name}: most on {keys.names[k]}, {float(row[k]):.2f}")
    more = f"; and {len(queries) - 40} more rows in the table" if len(queries) > 40 else ""
    return f"{title}. {len(queries)} rows (queries) by {len(keys)} columns (keys). " + "; ".join(lines) + more + "."
