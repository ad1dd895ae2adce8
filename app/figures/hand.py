"""The pictures beside the arithmetic of one head by hand: where one is, the terms of q·k, and the sum of the values."""

from math import radians, sin

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from app.figures.arithmetic import ByHand
from app.figures.axes import TokenAxis, plotly_text, ticks, visible
from app.figures.charts import axis, settle
from app.figures.stages import Stage, plain
from app.figures.tensor import tensor_heatmap
from app.theme import CHOSEN, MASKED, ink, pair_color, role_color, weight_scale

CELLS_TO_CLICK = 2500  # beyond, a marker in each cell is too much for a browser; the rows of tokens still choose


def weights_map(
    weights: np.ndarray,
    mask: np.ndarray,
    queries: TokenAxis,
    keys: TokenAxis,
    *,
    query: int,
    key: int,
    title: str,
    dark: bool = False,
) -> go.Figure:
    """The weights (Q, K) of one head, small; a click on a cell chooses its query and its key.

    Args:
        mask: (Q, K), True = may attend.
        query, key: the chosen cell, from 0.
    """
    rows, columns = weights.shape
    drawn = np.where(mask, weights, np.nan).astype(np.float32)  # (Q, K)
    figure = go.Figure(
        go.Heatmap(
            z=drawn, zmin=0, zmax=1, colorscale=weight_scale(dark), showscale=False, xgap=1, ygap=1, hoverinfo="skip"
        )
    )
    if rows * columns <= CELLS_TO_CLICK:
        q, k = np.divmod(np.arange(rows * columns, dtype=np.int16), columns)
        figure.add_scatter(
            x=k,
            y=q,
            mode="markers",
            marker={"symbol": "square", "size": 20, "opacity": 0},
            selected={"marker": {"opacity": 0}},
            unselected={"marker": {"opacity": 0}},
            text=[plain(weight) for weight in weights.ravel()],
            hovertemplate="%{y}<br>looks at %{x}<br>%{text}<extra></extra>",
            showlegend=False,
        )
    for box in ((-0.5, columns - 0.5, query - 0.5, query + 0.5, 1.5), (key - 0.5, key + 0.5, -0.5, rows - 0.5, 1.5),
                (key - 0.5, key + 0.5, query - 0.5, query + 0.5, 4)):  # fmt: skip
        x0, x1, y0, y1, width = box
        figure.add_shape(type="rect", x0=x0, x1=x1, y0=y0, y1=y1, line={"color": CHOSEN, "width": width})
    small = max(rows, columns) > 24
    cell = 12 if small else 22
    bare = {"showgrid": False, "zeroline": False, "fixedrange": True, "ticks": "", "tickmode": "array"}

    def side(whose: TokenAxis, text: str) -> dict[str, object]:
        color = role_color(whose.role, dark)
        return {
            "tickvals": list(range(len(whose))),
            "ticktext": ticks(whose.tokens),
            "tickfont": {"size": 9 if small else 13, "color": color},
            "title": {"text": plotly_text(text), "font": {"size": 13, "color": color}, "standoff": 4},
            "automargin": True,
        }

    figure.update_layout(
        xaxis=bare
        | side(keys, f"keys: {keys.title}")
        | {"side": "top", "tickangle": -45, "range": [-0.5, columns - 0.5]},
        yaxis=bare | side(queries, "queries, reads" if queries.predicts else "queries") | {"range": [rows - 0.5, -0.5]},
        clickmode="event+select",
    )
    top = 66 + tick_height(keys, 9 if small else 13)
    settle(figure, title, top + 10 + max(cell * rows, 60), top=top, bottom=10)
    figure.update_layout(plot_bgcolor=MASKED)
    return figure


def tick_height(axis: TokenAxis, size: int, angle: float = 45.0) -> int:
    """About how many px the tokens of an axis take when they stand at an angle."""
    longest = max(len(visible(token)) for token in axis.tokens)
    return int(12 + 0.6 * size * longest * sin(radians(angle)))


def terms_figure(hand: ByHand, *, title: str, dark: bool = False) -> go.Figure:
    """q and k number by number, their products below, the largest first, and the sum as it grows to q·k."""
    order = hand.order
    x = np.arange(hand.d_k, dtype=np.int16)
    terms = hand.terms[order]
    figure = make_subplots(rows=2, cols=1, shared_xaxes=True, vertical_spacing=0.06, row_heights=[0.45, 0.55])
    names = [str(i) for i in order]
    for role, values in (("query", hand.query), ("key", hand.keys[hand.chosen])):
        figure.add_bar(
            x=x, y=values[order].astype(np.float32), name="q" if role == "query" else "k", customdata=order,
            marker={"color": role_color(role, dark), "line": {"width": 0}},  # type: ignore[arg-type]
            hovertemplate="dimension %{customdata}<br>" + role + " %{y:.4f}<extra></extra>", row=1, col=1,
        )  # fmt: skip
    figure.add_bar(
        x=x, y=terms.astype(np.float32), name="q·k of one dimension", customdata=order,
        marker={"color": pair_color(False, dark), "line": {"width": 0}},
        hovertemplate="dimension %{customdata}<br>product %{y:.4f}<extra></extra>", row=2, col=1,
    )  # fmt: skip
    figure.add_scatter(
        x=x, y=np.cumsum(terms).astype(np.float32), name="their sum so far", customdata=order,
        mode="lines+markers", line={"color": pair_color(True, dark), "width": 3, "shape": "hv"},
        marker={"size": 5}, hovertemplate="after dimension %{customdata}<br>sum %{y:.4f}<extra></extra>", row=2, col=1,
    )  # fmt: skip
    figure.add_annotation(
        x=hand.d_k - 1, y=float(terms.sum()), text=f"<b>q·k = {plain(float(terms.sum()))}</b>", showarrow=False,
        xanchor="right", yanchor="bottom", yshift=6, font={"size": 16, "color": ink(dark)}, row=2, col=1,
    )  # fmt: skip
    every = max(1, hand.d_k // 40)
    limits = [-0.6, hand.d_k - 0.4]
    figure.update_layout(
        barmode="group",
        bargap=0.2,
        xaxis=axis("", dark, limits, showticklabels=False, showgrid=False),
        xaxis2=axis(
            "dimension, the largest product first", dark, limits, showgrid=False, tickmode="array", tickangle=0,
            tickvals=list(range(0, hand.d_k, every)), ticktext=names[::every],
        ),
        yaxis=axis("q and k", dark, zeroline=True, zerolinecolor=ink(dark), nticks=5),
        yaxis2=axis("q·k", dark, zeroline=True, zerolinecolor=ink(dark), nticks=6),
        showlegend=True,
    )  # fmt: skip
    return settle(figure, title, 380, top=70)


def values_figure(hand: ByHand, keys: TokenAxis, *, title: str, dark: bool = False) -> go.Figure:
    """Each value vector times its weight, and below them their sum, the context: (K + 1, E)."""
    names = value_rows(keys)
    figure = tensor_heatmap(
        hand.with_sum.astype(np.float32), names, title=title, columns="dimension of v", row=hand.chosen, dark=dark
    )
    weighted = [f"{plain(float(w))} × {text}" for w, text in zip(hand.weights, ticks(keys.tokens), strict=True)]
    figure.update_yaxes(ticktext=[*weighted, "<b>sum = context</b>"])
    edge = len(keys) - 0.5
    figure.add_shape(type="line", x0=-0.5, x1=hand.d_k - 0.5, y0=edge, y1=edge, line={"color": ink(dark), "width": 3})
    return figure


def value_rows(keys: TokenAxis) -> TokenAxis:
    """The lines of that picture."""
    return TokenAxis(keys.title, "value", (*keys.tokens, "context"))


def values_table(hand: ByHand, keys: TokenAxis) -> dict[str, list[str] | np.ndarray]:
    """The weights, and each value vector times its weight; in the last line their sums."""
    weights = np.append(hand.weights, hand.weights.sum())
    numbers: dict[str, list[str] | np.ndarray] = {f"dimension {i}": hand.with_sum[:, i] for i in range(hand.d_k)}
    names: dict[str, list[str] | np.ndarray] = {"key": [*keys.names, "sum = context"], "weight": weights}
    return names | numbers


def row_stages(hand: ByHand) -> list[Stage]:
    """The stages of the query's row, for `stages_figure`."""
    name = "e^(score − largest)" if hand.subtracted else "e^score"
    return [
        Stage("q·k", hand.products),
        Stage("/ √d_k", hand.scores),
        Stage("mask", hand.masked_scores),
        Stage(name, hand.exponentials, hand.total),
        Stage("weight", hand.weights, float(hand.weights.sum())),
    ]


def terms_table(hand: ByHand) -> dict[str, np.ndarray]:
    """All terms of q·k, the largest first, as columns of a table."""
    order = hand.order
    return {
        "dimension": order,
        "q": hand.query[order],
        "k": hand.keys[hand.chosen][order],
        "q times k": hand.terms[order],
        "sum so far": np.cumsum(hand.terms[order]),
    }


def terms_alt(hand: ByHand, title: str) -> str:
    """What the picture says, in words."""
    said = "; ".join(f"dimension {i}: {plain(float(hand.terms[i]))}" for i in hand.order[:8])
    return f"{title}. {hand.d_k} products, the largest first: {said}. Their sum is {plain(float(hand.terms.sum()))}."
