"""LayerNorm in numbers: mean and deviation of each row before and after it.

LayerNorm(x) = gain * (x - mean) / sqrt(variance + epsilon) + shift          (Ba et al. 2016; paper, section 3.1)
"""

from collections.abc import Sequence

import numpy as np

from app.figures.axes import TokenAxis, ticks
from app.figures.charts import Figure, axis, chart_layout
from app.figures.strips import Norm
from app.figures.theme import TICK_SIZE, pair_color, role_color
from app.languages import _


def moments(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(mean, deviation) of each row: (R, D) -> two of (R,), in float64."""
    exact = values.astype(np.float64)
    return exact.mean(axis=-1), exact.std(axis=-1)


def before_and_after(before: np.ndarray, after: np.ndarray, rows: TokenAxis, *, title: str) -> Figure:
    """For each row, mean ± deviation before LayerNorm; and below, on an axis of its own, after LayerNorm. `before` and
    `after` are (R, D)."""
    data = []
    for number, (name, values) in enumerate(((_("before"), before), (_("after"), after))):
        mean, deviation = moments(values)
        color = pair_color(bool(number))
        data.append(
            {
                "type": "scatter",
                "x": np.arange(len(rows)),
                "y": mean,
                "yaxis": "y2" if number else "y",
                "error_y": {"type": "data", "array": deviation, "thickness": 3, "width": 5, "color": color},
                "mode": "markers",
                "marker": {"size": 10, "symbol": "diamond" if number else "circle", "color": color},
                "customdata": deviation,
                "name": _("{when}: mean ± deviation", when=name),
                "hovertemplate": _(
                    "{when}<br>mean {mean}<br>deviation {deviation}",
                    when=name,
                    mean="%{y:.4f}",
                    deviation="%{customdata:.4f}",
                )
                + "<extra></extra>",
            }
        )
    layout = chart_layout(title, 440, top=70, bottom=90) | {
        "xaxis": axis(
            _("reads") if rows.predicts else "",
            [-0.6, len(rows) - 0.4],
            tickvals=list(range(len(rows))),
            ticktext=ticks(rows.tokens),
            autotickangles=[0, -45],
            tickfont={"size": TICK_SIZE if len(rows) <= 40 else 11, "color": role_color(rows.role)},
            showgrid=False,
            anchor="y2",
        ),
        "yaxis": axis(_("before"), nticks=5, domain=[0.54, 1]),
        "yaxis2": axis(_("after"), nticks=5, domain=[0, 0.46]),
    }
    return Figure(data, layout)


def moments_table(
    before: np.ndarray, after: np.ndarray, rows: TokenAxis, learned: Sequence[Norm] = ()
) -> dict[str, list[str] | np.ndarray]:
    """The same numbers as columns of a table. If `learned` has a LayerNorm for each row, a row is a sub-layer, and the
    table also has mean and deviation of its gain and shift."""
    (mean_before, deviation_before), (mean_after, deviation_after) = moments(before), moments(after)
    table: dict[str, list[str] | np.ndarray] = {
        _("sub-layer") if learned else _("token"): list(rows.tokens if learned else rows.names),
        _("mean before"): mean_before,
        _("deviation before"): deviation_before,
        _("mean after"): mean_after,
        _("deviation after"): deviation_after,
    }
    if learned:
        gains, shifts = np.stack([norm.gain for norm in learned]), np.stack([norm.shift for norm in learned])
        table[_("mean of gain γ")], table[_("deviation of gain γ")] = moments(gains)
        table[_("mean of shift β")], table[_("deviation of shift β")] = moments(shifts)
    return table
