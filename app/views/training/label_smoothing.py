"""What the loss compares: the smoothed target distribution and the model's (paper, section 5.4).

    q'(k) = (1 - epsilon) [k = y] + epsilon / V            loss = -sum_k q'(k) log p(k)

The mass epsilon is spread over all V tokens, the right one included; see transformer/training/loss.py.
"""

import numpy as np

from app.figures.axes import in_words, plotly_text, ticks
from app.figures.charts import FAINT, Figure, axis, chart_layout, plain_axis
from app.figures.distribution import BAR, Offer
from app.figures.softmax import log_softmax
from app.figures.tables import Table
from app.figures.theme import INK, TICK_SIZE, number, role_color
from app.languages import _
from app.languages.numbers import localised

LEAST = 1e-7  # where the logarithmic axis begins


def smoothed(gold: int, vocabulary: int, epsilon: float) -> np.ndarray:
    """q' (V), float64: what the model should predict where token `gold` is right."""
    target = np.full(vocabulary, epsilon / vocabulary)
    target[gold] += 1 - epsilon
    return target


def loss(target: np.ndarray, logits: np.ndarray) -> float:
    """-sum_k q'(k) log p(k) in nats; target (V), logits (V)."""
    return float(-(target * log_softmax(logits)).sum())


def _rows(found: list[Offer], target: np.ndarray) -> tuple[list[str], list[float], list[float]]:
    """Names, q' and p of these tokens; the last row is the mean over all other tokens."""
    rest = len(target) - len(found)
    ids = [offer.id for offer in found]
    q, p = [float(target[id]) for id in ids], [offer.probability for offer in found]
    if rest:
        q.append(max(1 - sum(q), 0.0) / rest)
        p.append(max(1 - sum(p), 0.0) / rest)
    return [offer.token for offer in found] + [_("{count:,} others, each", count=rest)] * bool(rest), q, p


def target_bars(found: list[Offer], target: np.ndarray, *, text: str, edited: bool = False) -> Figure:
    """q' and p of these tokens on a logarithmic axis, two bars per token; the last ones are the mean of all others.
    `edited`: whether p is by an edited model."""
    predicts = _("p: what the edited model predicts") if edited else _("p: what this checkpoint predicts")
    names, q, p = _rows(found, target)
    data = [
        {
            "type": "bar",
            "orientation": "h",
            "x": np.maximum(np.array(values), LEAST),
            "y": np.arange(len(names)),
            "marker": {"color": color},
            "name": name,
            "text": [_small(value) for value in values],
            "textposition": "outside",
            "constraintext": "none",
            "cliponaxis": False,
            "textfont": {"size": 14, "color": INK},
            "hovertext": [
                f"{plotly_text(in_words(each))}<br>{number(value)}" for each, value in zip(names, values, strict=True)
            ],
            "hovertemplate": "%{hovertext}<extra>" + name + "</extra>",
        }
        for name, values, color in (
            (_("q′: what it should predict"), q, role_color("decoder")),
            (predicts, p, FAINT),
        )
    ]
    shown = [10.0**power for power in range(-7, 1)]
    more = {
        "barmode": "group",
        "bargap": 0.28,
        "showlegend": True,
        "xaxis": axis(
            _("probability"), [-7, 0.75], type="log", tickvals=shown, ticktext=[localised(power) for power in _POWERS]
        ),
        "yaxis": plain_axis("", [len(names) - 0.5, -0.5], tickmode="array", tickvals=list(range(len(names))))
        | {"ticktext": ticks(tuple(names)), "tickfont": {"size": TICK_SIZE + 1, "color": INK}},
    }
    layout = chart_layout(text, 130 + round(1.5 * BAR) * len(names), top=72, bottom=50)
    layout["legend"] |= {"x": 0, "xanchor": "left", "y": 1.01, "traceorder": "normal"}
    return Figure(data, layout | more)


_POWERS = ["10⁻⁷", "10⁻⁶", "10⁻⁵", "10⁻⁴", "0.001", "0.01", "0.1", "1"]


def _small(value: float) -> str:
    """As `number` writes it, but "<10⁻⁷" if it is too small for the axis: 0.900, 0.0125, 1.20×10⁻⁵, 0, <10⁻⁷."""
    return "<10⁻⁷" if 0 < value < LEAST else number(value)


def target_table(found: list[Offer], target: np.ndarray) -> Table:
    """The numbers of `target_bars` as columns of a table."""
    names, q, p = _rows(found, target)
    return {_("token"): names, "q′": q, "p": p}
