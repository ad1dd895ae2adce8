"""Charts of what the division by sqrt(d_k) does (paper, section 3.2.1): to the scores, to the softmax, to its gradient.

Each chart compares two cases, always in the same two colours: with the division, and without it.
"""

import numpy as np

from app.figures.axes import TokenAxis, in_words, plotly_text, ticks
from app.figures.charts import Figure, axis, chart_layout
from app.figures.panels import FigurePart
from app.figures.theme import INK, SMALL_TICK_SIZE, TICK_SIZE, number, pair_color, role_color
from app.languages import _, gettext_noop, with_label
from app.languages.numbers import formatted
from app.views.scaling.large_scores import WIDTHS, Sharpness, random_products, random_sharpness

WITHOUT, WITH = gettext_noop("without the division"), gettext_noop("divided by √d_k")
BINS = 41


def histograms(products: np.ndarray, scores: np.ndarray, *, title: str) -> Figure:
    """How often each size of a score occurs, before and after the division. Both are given as flat arrays, which are
    empty if no key is allowed."""
    limit = max(float(np.abs(values).max(initial=1e-6)) for values in (products, scores)) * 1.02
    edges = np.linspace(-limit, limit, BINS + 1)
    data: list[FigurePart] = []
    for values, name, second in ((products, _(WITHOUT), False), (scores, _(WITH), True)):
        counts, variance = np.histogram(values, edges)[0], number(_variance(values))
        bars = {
            "type": "bar",
            "x": ((edges[1:] + edges[:-1]) / 2).astype(np.float32),
            "y": (counts / max(len(values), 1)).astype(np.float32),
            "width": float(edges[1] - edges[0]),
            "marker": {"color": pair_color(second), "line": {"width": 0}},
            "opacity": 0.62,
            "name": _("{name}: variance {variance}", name=name, variance=variance),
            "hovertemplate": _("about %{x:.2f}<br>%{y:.1%} of the scores") + f"<extra>{name}</extra>",
        }
        data.append(bars)
    more = {
        "barmode": "overlay",
        "xaxis": axis(_("score"), [-limit, limit]),
        "yaxis": axis(_("share of the scores"), tickformat=".0%", rangemode="tozero"),
    }
    return Figure(data, _narrow(title) | more)


def _variance(values: np.ndarray) -> float:
    return float(np.var(values, dtype=np.float64)) if len(values) else 0.0


def random_histograms(d_k: int) -> Figure:
    """Dot products of random vectors of this width."""
    products = random_products(d_k).ravel()
    title = _("q · k of {count:,} random pairs, d_k = {d_k}", count=len(products), d_k=d_k)
    return histograms(products, products / np.sqrt(d_k), title=title)


def curve(what: str, d_k: int, *, title: str) -> Figure:
    """One attribute of `Sharpness` over d_k from 1 to 1,024; the chosen d_k is marked.

    Args:
        what: "variance", "strongest" or "gradient".
    """
    widths = sorted({*WIDTHS, d_k})
    data: list[FigurePart] = []
    for second, name in ((False, _(WITHOUT)), (True, _(WITH))):
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
            "name": with_label(name, number(chosen)),
            "hovertemplate": "d_k = %{x}<br>%{y:.4g}<extra>" + name + "</extra>",
        }
        mark = {
            "type": "scatter", "x": [d_k], "y": [chosen], "mode": "markers", "hoverinfo": "skip", "showlegend": False,
            "marker": {"size": 16, "color": color, "line": {"width": 2, "color": INK}},
        }  # fmt: skip
        data += [line, mark]
    shown = WIDTHS[::2]
    axes = {
        "xaxis": axis("d_k", [-0.1, 3.15], type="log", tickvals=shown, ticktext=[formatted(w, ",") for w in shown]),
        "yaxis": axis("", [-1, 3.3], type="log", tickvals=[0.1, 1, 10, 100, 1000], tickformat=",")
        if what == "variance"
        else axis("", [0, 1.04 if what == "strongest" else 0.45]),
    }
    return Figure(data, _narrow(title) | axes)


def strongest_of_rows(without: np.ndarray, weights: np.ndarray, rows: TokenAxis, *, title: str) -> Figure:
    """The strongest weight of each row of a head.

    Args:
        without: (Q, K), the weights that the softmax would give without the division.
        weights: (Q, K), the weights with the division.
    """
    found = (without.max(axis=-1), weights.max(axis=-1))
    size = TICK_SIZE if len(rows) <= 24 else SMALL_TICK_SIZE
    data = [
        {
            "type": "bar",
            "x": np.arange(len(rows), dtype=np.int16),
            "y": found[second].astype(np.float32),
            "marker": {"color": pair_color(second)},
            "name": name,
            "hovertext": [plotly_text(in_words(token)) for token in rows.tokens],
            "hovertemplate": "%{hovertext}<br>" + _("weight %{y:.6~r}") + f"<extra>{name}</extra>",
        }
        for second, name in ((False, _(WITHOUT)), (True, _(WITH)))
    ]
    below = axis(
        _("{title}: reads", title=rows.title) if rows.predicts else rows.title, [-0.6, len(rows) - 0.4], showgrid=False,
        tickvals=list(range(len(rows))), ticktext=ticks(rows.tokens), tickangle=-45,
        tickfont={"size": size, "color": role_color(rows.role)},
    )  # fmt: skip
    more = {"barmode": "group", "bargap": 0.25, "xaxis": below, "yaxis": axis(_("weight"), [0, 1.04])}
    return Figure(data, _narrow(title) | more)


def _narrow(title: str) -> FigurePart:
    """The layout of a narrow chart: its legend starts at the left, in the line below the title."""
    layout = chart_layout(title, 330, top=92)
    legend = layout["legend"] | {"x": 0, "xanchor": "left", "y": 1.02}
    return layout | {"legend": legend, "showlegend": True}


def curve_table(d_k: int) -> dict[str, list[int] | list[float]]:
    """All numbers of the experiment, one row per d_k."""
    widths = sorted({*WIDTHS, d_k})
    found = [random_sharpness(width) for width in widths]
    table: dict[str, list[int] | list[float]] = {"d_k": widths}
    named = (("variance", _("variance")), ("strongest", _("largest weight")), ("gradient", _("Jacobian norm")))
    for what, words in named:
        for second, name in ((False, _(WITHOUT)), (True, _(WITH))):
            table[f"{words}, {name}"] = [float(getattr(pair[second], what)) for pair in found]
    return table


def facts_table(without: Sharpness, with_division: Sharpness) -> dict[str, list[str]]:
    """The two sets of numbers beside each other, for a table of three rows."""
    return {
        "": [_("variance of the scores"), _("largest weight of a row, mean"), _("Jacobian norm of a row, mean")],
        _(WITHOUT): [number(v) for v in (without.variance, without.strongest, without.gradient)],
        _(WITH): [number(v) for v in (with_division.variance, with_division.strongest, with_division.gradient)],
    }


def rows_table(without: np.ndarray, weights: np.ndarray, rows: TokenAxis) -> dict[str, list[str] | np.ndarray]:
    """The strongest weight of each row, as columns of a table."""
    return {_("query"): list(rows.names), _(WITHOUT): without.max(axis=-1), _(WITH): weights.max(axis=-1)}


def scores_table(products: np.ndarray, scores: np.ndarray) -> dict[str, np.ndarray]:
    """All scores that are in a histogram, before and after the division."""
    return {_(WITHOUT): products, _(WITH): scores}
