"""The pictures beside the arithmetic of one head by hand: where one is, the terms of q·k, and the sum of the values."""

import numpy as np

from app.figures.attention_stages import Stage, plain
from app.figures.axes import TokenAxis, plotly_text, ticks
from app.figures.charts import Figure, axis, settled
from app.figures.panels import BARE, Piece, clickable, frame, heat, leaning_out, on, tick_height
from app.figures.tensor import tensor_heatmap
from app.figures.theme import INK, MASKED, pair_color, role_color, weight_scale
from app.views.hand.arithmetic import ByHand

HIGHEST = 528  # px of the cells; the rows of a long sentence close up, so that the arithmetic below stays near
LINES_UP_TO = 48  # rows or columns; lines between more would cover the cells


def weights_map(
    weights: np.ndarray,
    mask: np.ndarray,
    queries: TokenAxis,
    keys: TokenAxis,
    *,
    query: int,
    key: int,
    title: str,
) -> Figure:
    """The weights (Q, K) of one head, small; a click on a cell chooses its query and its key.

    Args:
        mask: (Q, K), True = may attend.
        query, key: the chosen cell, from 0.
    """
    rows, columns = weights.shape
    drawn = np.where(mask, weights, np.nan).astype(np.float32)  # (Q, K)
    gap = int(max(rows, columns) <= LINES_UP_TO)
    cells = heat(drawn, weight_scale(), 0, 1, xgap=gap, ygap=gap)
    data = [clickable(cells, lambda: [plain(weight) for weight in weights.ravel()], "%{y}<br>attends to %{x}<br>")]
    shapes = [
        frame(-0.5, columns - 0.5, query - 0.5, query + 0.5, 1.5),
        frame(key - 0.5, key + 0.5, -0.5, rows - 0.5, 1.5),
        frame(key - 0.5, key + 0.5, query - 0.5, query + 0.5, 4),
    ]
    small = max(rows, columns) > 24
    size = 9 if small else 13

    def side(whose: TokenAxis, text: str) -> Piece:
        color = role_color(whose.role)
        return BARE | {
            "tickvals": list(range(len(whose))),
            "ticktext": ticks(whose.tokens),
            "tickfont": {"size": size, "color": color},
            "title": {"text": plotly_text(text), "font": {"size": 13, "color": color}, "standoff": 4},
            "automargin": True,
        }

    top = 66 + tick_height(keys, size)
    high = min((12 if small else 22) * rows, HIGHEST)
    layout = settled(title, top + 10 + max(high, 60), top=top, bottom=10, right=leaning_out(keys)) | {
        "xaxis": side(keys, f"keys: {keys.title}") | {"side": "top", "tickangle": -45, "range": [-0.5, columns - 0.5]},
        "yaxis": side(queries, "queries, reads" if queries.predicts else "queries") | {"range": [rows - 0.5, -0.5]},
        "shapes": shapes,
        "plot_bgcolor": MASKED,
    }
    return Figure(data, layout)


def terms_figure(hand: ByHand, *, title: str) -> Figure:
    """q and k number by number, their products below, the largest first, and the sum as it grows to q·k."""
    order = hand.order
    x = np.arange(hand.d_k, dtype=np.int16)
    terms = hand.terms[order]

    def bars(values: np.ndarray, name: str, color: str, what: str, panel: int) -> Piece:
        base = {"type": "bar", "x": x, "y": values.astype(np.float32), "name": name, "customdata": order}
        hover = f"dimension %{{customdata}}<br>{what} %{{y:.4f}}<extra></extra>"
        return base | {"marker": {"color": color, "line": {"width": 0}}, "hovertemplate": hover} | on(panel)

    data = [
        bars(hand.query[order], "q", role_color("query"), "query", 1),
        bars(hand.keys[hand.chosen][order], "k", role_color("key"), "key", 1),
        bars(terms, "q·k of one dimension", pair_color(False), "product", 2),
        {
            "type": "scatter", "x": x, "y": np.cumsum(terms).astype(np.float32), "name": "their sum so far",
            "customdata": order, "mode": "lines+markers", "marker": {"size": 5},
            "line": {"color": pair_color(True), "width": 3, "shape": "hv"},
            "hovertemplate": "after dimension %{customdata}<br>sum %{y:.4f}<extra></extra>", **on(2),
        },
    ]  # fmt: skip
    total = float(terms.sum())
    result = {
        "x": hand.d_k - 1, "y": total, "xref": "x2", "yref": "y2", "text": f"<b>q·k = {plain(total)}</b>",
        "showarrow": False, "xanchor": "right", "yanchor": "bottom", "yshift": 6,
        "font": {"size": 16, "color": INK},
    }  # fmt: skip
    every = max(1, hand.d_k // 40)
    limits = [-0.6, hand.d_k - 0.4]
    level = {"zeroline": True, "zerolinecolor": INK}
    layout = settled(title, 380, top=70) | {
        "barmode": "group",
        "bargap": 0.2,
        "xaxis": axis("", limits, showticklabels=False, showgrid=False, anchor="y"),
        "xaxis2": axis(
            "dimension, the largest product first", limits, showgrid=False, tickmode="array", tickangle=0,
            tickvals=list(range(0, hand.d_k, every)), ticktext=[str(i) for i in order[::every]], anchor="y2",
        ),
        "yaxis": axis("q and k", nticks=5, domain=[0.577, 1], anchor="x") | level,
        "yaxis2": axis("q·k", nticks=6, domain=[0, 0.517], anchor="x2") | level,
        "showlegend": True,
        "annotations": [result],
    }  # fmt: skip
    return Figure(data, layout)


def values_figure(hand: ByHand, keys: TokenAxis, *, title: str) -> Figure:
    """Each value vector times its weight, and below them their sum, the context: (K + 1, E)."""
    names = value_rows(keys)
    figure = tensor_heatmap(
        hand.with_sum.astype(np.float32), names, title=title, columns="dimension of v", row=hand.chosen
    )
    weighted = [f"{plain(float(w))} × {text}" for w, text in zip(hand.weights, ticks(keys.tokens), strict=True)]
    figure.layout["yaxis"]["ticktext"] = [*weighted, "<b>sum = context</b>"]
    edge = len(keys) - 0.5
    line = {"type": "line", "x0": -0.5, "x1": hand.d_k - 0.5, "y0": edge, "y1": edge}
    figure.layout["shapes"].append(line | {"line": {"color": INK, "width": 3}})
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
