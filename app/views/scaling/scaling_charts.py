"""Charts of what the division by sqrt(d_k) does (paper, section 3.2.1): to the scores, to the softmax, to its gradient.

Always two things against each other, in the same two colours: with the division, and without.
"""

from collections.abc import Sequence

import numpy as np

from app.figures.axes import TokenAxis, plotly_text, ticks, visible
from app.figures.charts import Figure, axis, settled
from app.figures.panels import Piece
from app.figures.theme import INK, SMALL_TICK_SIZE, TICK_SIZE, number, pair_color, role_color
from app.views.scaling.softmax import (
    KEYS,
    WIDTHS,
    Sharpness,
    random_products,
    random_sharpness,
    softmax,
    typical_products,
)

WITHOUT, WITH = "without the division", "divided by √d_k"
BINS = 41


def histograms(products: np.ndarray, scores: np.ndarray, *, title: str) -> Figure:
    """How often each size of a score occurs, before and after the division. Both are given as flat arrays."""
    limit = max(float(np.abs(products).max()), float(np.abs(scores).max()), 1e-6) * 1.02
    edges = np.linspace(-limit, limit, BINS + 1)
    data: list[Piece] = []
    for values, name, second in ((products, WITHOUT, False), (scores, WITH, True)):
        counts, _ = np.histogram(values, edges)
        bars = {
            "type": "bar",
            "x": ((edges[1:] + edges[:-1]) / 2).astype(np.float32),
            "y": (counts / max(len(values), 1)).astype(np.float32),
            "width": float(edges[1] - edges[0]),
            "marker": {"color": pair_color(second), "line": {"width": 0}},
            "opacity": 0.62,
            "name": f"{name}: variance {number(float(np.var(values, dtype=np.float64)))}",
            "hovertemplate": "about %{x:.2f}<br>%{y:.1%} of the scores<extra>" + name + "</extra>",
        }
        data.append(bars)
    more = {
        "barmode": "overlay",
        "xaxis": axis("score", [-limit, limit]),
        "yaxis": axis("share of the scores", tickformat=".0%", rangemode="tozero"),
    }
    return Figure(data, _narrow(title, 330) | more)


def random_histograms(d_k: int) -> Figure:
    """Dot products of random vectors of this width."""
    products = random_products(d_k).ravel()
    title = f"q · k of {len(products):,} random pairs, d_k = {d_k}"
    return histograms(products, products / np.sqrt(d_k), title=title)


def curve(what: str, d_k: int, *, title: str) -> Figure:
    """A number of `Sharpness` over d_k from 1 to 1,024, the chosen d_k marked.

    Args:
        what: "variance", "strongest" or "gradient".
    """
    widths = sorted({*WIDTHS, d_k})
    data: list[Piece] = []
    for second, name in ((False, WITHOUT), (True, WITH)):
        values = [getattr(random_sharpness(width)[second], what) for width in widths]
        chosen = values[widths.index(d_k)]
        color = pair_color(second)
        line = {
            "type": "scatter",
            "x": np.array(widths, dtype=np.int32),
            "y": np.array(values, dtype=np.float32),
            "mode": "lines+markers",
            "line": {"color": color, "width": 2.5, "dash": "solid" if second else "dash"},
            "marker": {"color": color, "size": 7},
            "name": f"{name}: {number(chosen)}",
            "hovertemplate": "d_k = %{x}<br>%{y:.4g}<extra>" + name + "</extra>",
        }
        mark = {
            "type": "scatter", "x": [d_k], "y": [chosen], "mode": "markers", "hoverinfo": "skip", "showlegend": False,
            "marker": {"size": 16, "color": color, "line": {"width": 2, "color": INK}},
        }  # fmt: skip
        data += [line, mark]
    shown = WIDTHS[::2]
    axes = {
        "xaxis": axis("d_k", [-0.1, 3.15], type="log", tickvals=shown, ticktext=[f"{w:,}" for w in shown]),
        "yaxis": axis("", [-1, 3.3], type="log", tickvals=[0.1, 1, 10, 100, 1000], tickformat=",")
        if what == "variance"
        else axis("", [0, 1.04 if what == "strongest" else 0.45]),
    }
    return Figure(data, _narrow(title, 330) | axes)


def random_row(d_k: int) -> Figure:
    """A typical random query and its keys: the weights that the softmax makes, with the division and without."""
    products = typical_products(d_k)  # (K)
    order = np.argsort(-products)
    rows = (softmax(products)[order], softmax(products / np.sqrt(d_k))[order])
    names = [f"key {k + 1}" for k in range(KEYS)]
    title = f"A typical random query: its weights on {KEYS} keys"
    below = axis("key", [-0.6, KEYS - 0.4], showgrid=False, showticklabels=False)
    return _bars(rows, names, below, title=title)


def strongest_of_rows(without: np.ndarray, weights: np.ndarray, rows: TokenAxis, *, title: str) -> Figure:
    """Of each row of a head the strongest weight.

    Args:
        without: (Q, K), what the softmax would give without the division.
        weights: (Q, K), what the model has.
    """
    found = (without.max(axis=-1), weights.max(axis=-1))
    names = [plotly_text(visible(token)) for token in rows.tokens]
    size = TICK_SIZE if len(rows) <= 24 else SMALL_TICK_SIZE
    below = axis(
        f"{rows.title}: reads" if rows.predicts else rows.title, [-0.6, len(rows) - 0.4], showgrid=False,
        tickvals=list(range(len(rows))), ticktext=ticks(rows.tokens), tickangle=-45,
        tickfont={"size": size, "color": role_color(rows.role)},
    )  # fmt: skip
    return _bars(found, names, below, title=title)


def _bars(values: Sequence[np.ndarray], names: Sequence[str], below: Piece, *, title: str) -> Figure:
    """Weights without and with the division, two bars a place, 0 to 1; `below` is the x axis."""
    data = [
        {
            "type": "bar",
            "x": np.arange(len(names), dtype=np.int16),
            "y": values[second].astype(np.float32),
            "marker": {"color": pair_color(second)},
            "name": name,
            "hovertext": list(names),
            "hovertemplate": "%{hovertext}<br>weight %{y:.4f}<extra>" + name + "</extra>",
        }
        for second, name in ((False, WITHOUT), (True, WITH))
    ]
    more = {"barmode": "group", "bargap": 0.25, "xaxis": below, "yaxis": axis("weight", [0, 1.04])}
    return Figure(data, _narrow(title, 330) | more)


def _narrow(title: str, height: int) -> Piece:
    """The layout of a narrow chart: its legend starts at the left, in the line below the title."""
    layout = settled(title, height, top=92)
    legend = layout["legend"] | {"x": 0, "xanchor": "left", "y": 1.02}
    return layout | {"legend": legend, "showlegend": True}


def curve_table(d_k: int) -> dict[str, list[int] | list[float]]:
    """All numbers of the experiment, a row a d_k."""
    widths = sorted({*WIDTHS, d_k})
    found = [random_sharpness(width) for width in widths]
    table: dict[str, list[int] | list[float]] = {"d_k": widths}
    for what, words in (("variance", "variance"), ("strongest", "strongest weight"), ("gradient", "Jacobian norm")):
        for second, name in ((False, WITHOUT), (True, WITH)):
            table[f"{words}, {name}"] = [float(getattr(pair[second], what)) for pair in found]
    return table


def facts_table(without: Sharpness, with_division: Sharpness) -> dict[str, list[str]]:
    """The two sets of numbers beside each other, for a table of three rows."""
    return {
        "": ["variance of the scores", "strongest weight of a row, mean", "Jacobian norm of a row, mean"],
        WITHOUT: [number(v) for v in (without.variance, without.strongest, without.gradient)],
        WITH: [number(v) for v in (with_division.variance, with_division.strongest, with_division.gradient)],
    }


def rows_table(without: np.ndarray, weights: np.ndarray, rows: TokenAxis) -> dict[str, list[str] | np.ndarray]:
    """The strongest weight of each row, as columns of a table."""
    return {"query": list(rows.names), WITHOUT: without.max(axis=-1), WITH: weights.max(axis=-1)}


def scores_table(products: np.ndarray, scores: np.ndarray) -> dict[str, np.ndarray]:
    """All scores that are in a histogram, before and after the division."""
    return {WITHOUT: products, WITH: scores}


def row_table(d_k: int) -> dict[str, np.ndarray]:
    """The numbers of `random_row`: products and both sets of weights, strongest first."""
    products = typical_products(d_k)
    order = np.argsort(-products)
    return {
        "q · k": products[order],
        WITHOUT: softmax(products)[order],
        WITH: softmax(products / np.sqrt(d_k))[order],
    }
