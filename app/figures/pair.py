"""Two matrices of weights of the same queries and keys beside each other, in one picture and one colour scale."""

import numpy as np
import plotly.graph_objects as go

from app.figures.axes import TokenAxis, plotly_text, ticks
from app.figures.charts import plain_axis, settle
from app.theme import CELL_SIZE, MASKED, SMALL_TICK_SIZE, ink, role_color, text_on_weight, weight_scale, weight_text

NUMBERS_UP_TO = 10  # columns; beyond, digits would not be legible at half the width


def matrix_pair(
    matrices: tuple[np.ndarray, np.ndarray],
    names: tuple[str, str],
    queries: TokenAxis,
    keys: TokenAxis,
    *,
    title: str,
    mask: np.ndarray,
    dark: bool = False,
) -> go.Figure:
    """Two sets of weights (Q, K), 0 to 1; forbidden cells are empty.

    Args:
        names: what stands above each.
        mask: (Q, K), True = may attend.
    """
    rows, columns = matrices[0].shape
    figure = go.Figure()
    domains = ((0.0, 0.485), (0.515, 1.0))
    for number, (matrix, domain) in enumerate(zip(matrices, domains, strict=True), start=1):
        suffix = "" if number == 1 else "2"
        figure.add_heatmap(
            z=np.where(mask, matrix, np.nan).astype(np.float32),
            xaxis=f"x{suffix}",
            yaxis=f"y{suffix}",
            zmin=0,
            zmax=1,
            xgap=1,
            ygap=1,
            colorscale=weight_scale(dark),
            showscale=False,
            hoverongaps=False,
            hovertemplate="%{y}<br>looks at %{x}<br>%{z:.4f}<extra>" + plotly_text(names[number - 1]) + "</extra>",
        )
        if columns <= NUMBERS_UP_TO:
            q, k = np.nonzero(mask)
            shown = [float(w) for w in matrix[q, k]]
            figure.add_scatter(
                x=k.astype(np.int16), y=q.astype(np.int16), xaxis=f"x{suffix}", yaxis=f"y{suffix}", mode="text",
                text=[weight_text(w) for w in shown], hoverinfo="skip", showlegend=False,
                textfont={"size": CELL_SIZE, "color": [text_on_weight(w, dark) for w in shown]},
            )  # fmt: skip
        size = 14 if columns <= 20 else SMALL_TICK_SIZE
        figure.update_layout(
            {
                f"xaxis{suffix}": plain_axis(
                    "", dark, [-0.5, columns - 0.5], domain=domain, anchor=f"y{suffix}", side="top", tickangle=-45,
                    tickvals=list(range(columns)), ticktext=ticks(keys.tokens), automargin=False,
                    tickfont={"size": size, "color": role_color(keys.role, dark)},
                ),
                f"yaxis{suffix}": plain_axis(
                    "", dark, [rows - 0.5, -0.5], anchor=f"x{suffix}", tickvals=list(range(rows)),
                    ticktext=ticks(queries.tokens), showticklabels=number == 1,
                    tickfont={"size": size, "color": role_color(queries.role, dark)},
                ),
            }
        )  # fmt: skip
        figure.add_annotation(
            text=plotly_text(names[number - 1]), x=domain[0], xref="paper", xanchor="left", y=1, yref="paper",
            yanchor="bottom", yshift=92, showarrow=False, font={"size": 15, "color": ink(dark)},
        )  # fmt: skip
    cell = 26 if rows <= 32 else 14
    settle(figure, title, 160 + 20 + max(rows * cell, 40), top=160, bottom=20)
    figure.update_layout(plot_bgcolor=MASKED)
    return figure


def pair_table(
    matrices: tuple[np.ndarray, np.ndarray], names: tuple[str, str], queries: TokenAxis, keys: TokenAxis
) -> dict[str, list[str] | np.ndarray]:
    """Both as columns of one table."""
    table: dict[str, list[str] | np.ndarray] = {"query": list(queries.names)}
    for matrix, name in zip(matrices, names, strict=True):
        table |= {f"{name}: {key}": matrix[:, k] for k, key in enumerate(keys.names)}
    return table
