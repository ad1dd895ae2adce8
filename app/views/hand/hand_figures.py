"""The pictures beside the arithmetic of one head by hand: the terms of q·k, and the sum of the values."""

from collections.abc import Mapping

import numpy as np

from app.figures.attention_stages import Stage, plain
from app.figures.axes import TokenAxis, ticks
from app.figures.charts import Figure, axis, chart_layout
from app.figures.panels import FigurePart, on
from app.figures.tensor import tensor_heatmap
from app.figures.theme import INK, pair_color, role_color
from app.languages import _, gettext_noop
from app.views.hand.arithmetic import ByHand

SUM = gettext_noop("sum = context")


def terms_figure(hand: ByHand, *, title: str) -> Figure:
    """q and k number by number, their products below, the largest first, and the sum as it grows to q·k."""
    order = hand.order
    x = np.arange(hand.d_k, dtype=np.int16)
    terms = hand.terms[order]

    def bars(values: np.ndarray, name: str, color: str, what: str, panel: int) -> FigurePart:
        base = {"type": "bar", "x": x, "y": values.astype(np.float32), "name": name, "customdata": order}
        hover = _("dimension {i}", i="%{customdata}") + f"<br>{what} %{{y:.4f}}<extra></extra>"
        marker = {
            "color": color,
            "line": {"width": 0},
            "pattern": {"shape": "/" if name == "k" else "", "fillmode": "overlay"},
        }
        return base | {"marker": marker, "hovertemplate": hover} | on(panel)

    so_far = _("after dimension {i}<br>sum {sum}", i="%{customdata}", sum="%{y:.4f}") + "<extra></extra>"

    data = [
        bars(hand.query[order], "q", role_color("query"), _("query"), 1),
        bars(hand.keys[hand.chosen][order], "k", role_color("key"), _("key"), 1),
        bars(terms, _("q·k of one dimension"), pair_color(False), _("product"), 2),
        {
            "type": "scatter", "x": x, "y": np.cumsum(terms).astype(np.float32), "name": _("their sum so far"),
            "customdata": order, "mode": "lines+markers", "marker": {"size": 5},
            "line": {"color": pair_color(True), "width": 3, "shape": "hv"},
            "hovertemplate": so_far, **on(2),
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
    layout = chart_layout(title, 380, top=70) | {
        "barmode": "group",
        "bargap": 0.2,
        "xaxis": axis("", limits, showticklabels=False, showgrid=False, anchor="y"),
        "xaxis2": axis(
            _("dimension, the largest product first"), limits, showgrid=False, tickmode="array", tickangle=0,
            tickvals=list(range(0, hand.d_k, every)), ticktext=[str(i) for i in order[::every]], anchor="y2",
        ),
        "yaxis": axis(_("q and k"), nticks=5, domain=[0.577, 1], anchor="x") | level,
        "yaxis2": axis("q·k", nticks=6, domain=[0, 0.517], anchor="x2") | level,
        "showlegend": True,
        "annotations": [result],
    }  # fmt: skip
    return Figure(data, layout)


def values_figure(hand: ByHand, keys: TokenAxis, *, title: str) -> Figure:
    """Each value vector times its weight, and below them their sum, the context: (K + 1, E)."""
    names = value_rows(keys)
    figure = tensor_heatmap(
        hand.with_sum.astype(np.float32), names, title=title, columns=_("dimension of v"), row=hand.chosen
    )
    weighted = [f"{plain(float(w))} × {text}" for w, text in zip(hand.weights, ticks(keys.tokens), strict=True)]
    figure.layout["yaxis"]["ticktext"] = [*weighted, f"<b>{_(SUM)}</b>"]
    edge = len(keys) - 0.5
    line = {"type": "line", "x0": -0.5, "x1": hand.d_k - 0.5, "y0": edge, "y1": edge}
    figure.layout["shapes"].append(line | {"line": {"color": INK, "width": 3}})
    return figure


def value_rows(keys: TokenAxis) -> TokenAxis:
    """The names of the lines of `values_figure`."""
    return TokenAxis(keys.title, "value", (*keys.tokens, _("context")))


def values_table(hand: ByHand, keys: TokenAxis) -> dict[str, list[str] | np.ndarray]:
    """The weights, and each value vector times its weight; in the last line their sums."""
    weights = np.append(hand.weights, hand.weights.sum())
    numbers: dict[str, list[str] | np.ndarray] = {_("dimension {i}", i=i): hand.with_sum[:, i] for i in range(hand.d_k)}
    names: dict[str, list[str] | np.ndarray] = {_("key"): [*keys.names, _(SUM)], _("weight"): weights}
    return names | numbers


def row_stages(hand: ByHand) -> list[Stage]:
    """The stages of the query's row, for `app.figures.attention_stages`."""
    name = _("e^(score − largest)") if hand.subtracted else "e^score"
    return [
        Stage("q·k", hand.products),
        Stage("/ √d_k", hand.scores),
        Stage(_("mask"), hand.masked_scores),
        Stage(name, hand.exponentials, hand.total),
        Stage(_("weight"), hand.weights, float(hand.weights.sum())),
    ]


def tensor_stages(tensors: Mapping[str, np.ndarray], query: int) -> list[Stage]:
    """The same stages of the head's tensors (Q, K) each, which an edit may change; the exponentials are no tensor."""
    products, scores, masked, weights = (
        tensors[name][query] for name in ("products", "scores", "masked_scores", "weights")
    )
    return [
        Stage("q·k", products),
        Stage("/ √d_k", scores),
        Stage(_("mask"), masked),
        Stage(_("weight"), weights, float(weights.sum(dtype=np.float64))),
    ]


def terms_table(hand: ByHand) -> dict[str, np.ndarray]:
    """All terms of q·k, the largest first, as columns of a table."""
    order = hand.order
    return {
        _("dimension"): order,
        "q": hand.query[order],
        "k": hand.keys[hand.chosen][order],
        _("q times k"): hand.terms[order],
        _("sum so far"): np.cumsum(hand.terms[order]),
    }


def terms_alt(hand: ByHand, title: str) -> str:
    """What the picture says, in words."""
    products = "; ".join(_("dimension {i}", i=i) + f": {plain(float(hand.terms[i]))}" for i in hand.order[:8])
    return _(
        "{title}. {count} products, the largest first: {products}. Their sum is {sum}.",
        title=title,
        count=hand.d_k,
        products=products,
        sum=plain(float(hand.terms.sum())),
    )
