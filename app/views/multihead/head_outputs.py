"""What each head writes (paper, section 3.2.2): Concat(head_1, ..., head_h) W^O is the sum of head_i W_i^O.

Lengths of vectors do not add up, because heads point in different directions and can cancel each other. The parts along
the sum do: a head's part is its dot product with the sum, divided by the length of the sum.
"""

from dataclasses import dataclass

import numpy as np

from app.figures.axes import TokenAxis
from app.figures.charts import Figure, axis, chart_layout, line_at
from app.figures.tensor import tensor_heatmap
from app.figures.theme import CHOSEN, INK, Role, fixed, pair_color
from app.languages import _, gettext_noop

BELOW = 0.13  # share of the highest bar: room for the number under a small negative bar
BIAS, SUM_IS_OUTPUT, SUM = gettext_noop("bias"), gettext_noop("sum = output"), gettext_noop("sum")


@dataclass(frozen=True)
class Written:
    """One query of one attention: what its heads add to the output.

    Attributes:
        parts: (H, D), each head's context times its slice of W^O.
        bias: (D), of W^O.
        total: (D), the output that the model recorded in a pass that concatenates the heads and then multiplies by W^O.
            If an edit replaces the output: the sum of the heads and the bias.
        is_output: whether `total` is the output.
    """

    parts: np.ndarray
    bias: np.ndarray
    total: np.ndarray
    is_output: bool = True

    @property
    def rows(self) -> np.ndarray:
        """(H + 2, D): the heads, the bias, and the total, which is the sum of those above it."""
        return np.concatenate([self.parts, self.bias[None], self.total[None]])

    @property
    def names(self) -> tuple[str, ...]:
        return (
            *(_("head {head}", head=i + 1) for i in range(len(self.parts))),
            _(BIAS),
            _(SUM_IS_OUTPUT if self.is_output else SUM),
        )

    @property
    def lengths(self) -> np.ndarray:
        """(H + 2), the length of each row, in float64."""
        found: np.ndarray = np.linalg.norm(self.rows.astype(np.float64), axis=-1)
        return found

    @property
    def along(self) -> np.ndarray:
        """(H + 2), the part of each row along the total. The last part is the sum of the others."""
        direction = self.total.astype(np.float64) / (self.lengths[-1] or 1.0)
        found: np.ndarray = self.rows.astype(np.float64) @ direction
        return found


def sum_difference(head_outputs: np.ndarray, bias: np.ndarray, output: np.ndarray) -> float:
    """(H, Q, D), (D), (Q, D): how far the sum of the heads plus the bias is from the output, at most."""
    return float(np.abs(head_outputs.sum(axis=0, dtype=np.float64) + bias - output).max())


def written_bars(written: Written, head: int, *, title: str) -> Figure:
    """Two bars for each head, the bias and the sum: the length of the vector, and its part along the sum."""
    names = written.names
    places = np.arange(len(names), dtype=np.int16)
    numbers = len(names) <= 18
    bars = [
        {
            "type": "bar",
            "x": places,
            "y": values.astype(np.float32),
            "name": label,
            "marker": {"color": pair_color(is_along)},
            "text": [fixed(value, 2) for value in values] if numbers else None,
            "textposition": "outside",
            "textangle": 0,
            "cliponaxis": False,
            "textfont": {"size": 12, "color": INK},
            "hovertext": names,
            "hovertemplate": "%{hovertext}<br>%{y:.4f}<extra>" + label + "</extra>",
        }
        for is_along, label, values in (
            (False, _("length"), written.lengths),
            (True, _("part along the sum"), written.along),
        )
    ]
    low, high = float(written.along.min()), float(max(written.lengths.max(), 1e-6))
    step = -(-len(written.parts) // 32)
    shown = list(range(0, len(written.parts), step))
    # Trap: these two names are annotations, because Plotly may leave out a tick where there is little room
    # (test_the_sum_is_named_however_narrow_the_picture_is).
    under = {"y": 0, "yref": "paper", "yanchor": "top", "showarrow": False, "font": {"size": 13, "color": INK}}
    last = {len(names) - 1: "<b>" + _(SUM) + "</b>"} | ({len(names) - 2: _(BIAS)} if numbers else {})
    layout = chart_layout(title, 360, top=78) | {
        "barmode": "group",
        "bargap": 0.22,
        "showlegend": True,
        "xaxis": axis(
            _("head"), [-0.6, len(names) - 0.4], showgrid=False, tickangle=0,
            tickvals=shown, ticktext=[str(i + 1) for i in shown],
        ),
        "annotations": [{"x": place, "text": text} | under for place, text in last.items()],
        "yaxis": axis("", [min(1.25 * low, -BELOW * high) if low < 0 else 0, 1.14 * high]),
        "shapes": [
            {"type": "rect", "x0": head - 0.48, "x1": head + 0.48, "y0": 0, "y1": 1, "yref": "paper"}
            | {"line": {"color": CHOSEN, "width": 3}},
            {"type": "line", "x0": 0, "x1": 1, "xref": "paper", "y0": 0, "y1": 0}
            | {"line": {"color": INK, "width": 1}},
        ],
    }  # fmt: skip
    layout["legend"] |= {"x": 0, "xanchor": "left", "y": 1.01}
    return Figure(bars, layout)


def written_heatmap(written: Written, head: int, role: Role, *, title: str, first: int, count: int) -> Figure:
    """One row per head, then the bias and the sum: `count` dimensions from `first` on.

    The range is that of all dimensions, so that every window has the same colours.
    """
    values = written.rows[:, first : first + count]
    limit = float(np.abs(written.rows).max())
    figure = tensor_heatmap(
        values, TokenAxis(_("rows"), role, written.names), title=title, first=first, row=head, limit=limit
    )
    figure.layout["shapes"].append(line_at(y=len(written.parts) + 0.5, line={"color": INK, "width": 2.5}))
    return figure


def bars_table(written: Written) -> dict[str, list[str] | np.ndarray]:
    """The numbers of `written_bars`."""
    return {"": list(written.names), _("length"): written.lengths, _("part along the sum"): written.along}


def written_table(written: Written) -> dict[str, list[str] | np.ndarray]:
    """All numbers: one row per head, one column per dimension."""
    rows = written.rows
    return {
        "": list(written.names),
        **{_("dimension {dimension}", dimension=i): rows[:, i] for i in range(rows.shape[1])},
    }
