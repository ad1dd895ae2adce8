"""What a training run measured, drawn over its updates; several runs in one picture, each in its own colour.

A curve that was measured on text that the model does not learn from is dashed. A curve that is computed here (from a
formula, or for a sentence) is dotted.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from app.figures.axes import plotly_text, visible
from app.figures.charts import Figure, axis, chart_layout
from app.figures.panels import FigurePart
from app.figures.tables import Table
from app.figures.theme import INK, head_color
from app.languages import _, pgettext

Style = Literal["measured", "validation", "computed"]

MOST_POINTS = 1500  # of a line: more than a screen has
_DASH: dict[Style, str] = {"measured": "solid", "validation": "dash", "computed": "dot"}
_LETTER, _LINE = 8.4, 23  # px, of a legend


@dataclass(frozen=True)
class Curve:
    """One line: values (N) over updates (N)."""

    run: str
    what: str  # beside the run in the legend, such as "validation"; may be ""
    updates: np.ndarray
    values: np.ndarray
    place: int | None = 0  # of the run among those shown, from 0; it gives the colour. None: the colour of text
    style: Style = "measured"

    @property
    def name(self) -> str:
        return ", ".join(part for part in (visible(self.run), self.what) if part)


def thinned(curve: Curve) -> tuple[np.ndarray, np.ndarray]:
    """At most `MOST_POINTS` of its points, evenly taken, the first and the last among them."""
    count = len(curve.updates)
    if count <= MOST_POINTS:
        return curve.updates, curve.values
    kept = np.unique(np.linspace(0, count - 1, MOST_POINTS).round().astype(np.int64))
    return curve.updates[kept], curve.values[kept]


def curve_chart(
    curves: Sequence[Curve],
    *,
    title: str,
    unit: str,
    marked: int | None = None,
    width: int = 560,
) -> Figure:
    """The curves in one picture.

    Args:
        unit: title of the vertical axis.
        marked: an update to mark by a vertical line.
        width: about how wide it will be (px), to know how many lines its legend takes.
    """
    data: list[FigurePart] = []
    for curve in curves:
        updates, values = thinned(curve)
        color = INK if curve.place is None else head_color(curve.place)
        few = len(updates) <= 40
        line = {
            "type": "scatter",
            "x": updates,
            "y": values,
            "mode": "lines+markers" if few else "lines",
            "line": {"color": color, "width": 2.5, "dash": _DASH[curve.style]},
            "marker": {"color": color, "size": 7, "symbol": "circle" if curve.style == "measured" else "diamond"},
            "name": plotly_text(curve.name),
            "hovertemplate": _("update {update}", update="%{x:,}")
            + "<br>%{y:.4g}<extra>"
            + plotly_text(curve.name)
            + "</extra>",
        }
        data.append(line)
    lines = _legend_lines([curve.name for curve in curves], width)
    layout = chart_layout(title, 262 + 48 + _LINE * lines, top=48 + _LINE * lines)
    layout["legend"] |= {"x": 0, "xanchor": "left", "y": 1.02}
    below = axis(_("update"), rangemode="tozero", tickformat=",d")
    more: FigurePart = {"showlegend": True, "xaxis": below, "yaxis": axis(unit, rangemode="tozero")}
    if marked is not None:
        mark = {"type": "line", "x0": marked, "x1": marked, "y0": 0, "y1": 1, "yref": "y domain"}
        more["shapes"] = [mark | {"line": {"color": "rgba(255, 154, 31, 0.8)", "width": 3}}]
    return Figure(data, layout | more)


def _legend_lines(names: Sequence[str], width: int) -> int:
    """How many lines a legend takes whose entries are side by side, all as wide as the widest."""
    widest = max((60 + _LETTER * len(name) for name in names), default=width)
    return -(-len(names) // max(1, int(width / widest)))


def curve_table(curves: Sequence[Curve]) -> Table:
    """All points, a row each."""
    return {
        _("run"): [curve.run for curve in curves for update in curve.updates],
        _("line"): [curve.what or _("measured") for curve in curves for update in curve.updates],
        _("update"): [update for curve in curves for update in curve.updates.tolist()],
        pgettext("in a table of curves", "value"): [value for curve in curves for value in curve.values.tolist()],
    }


def curve_alt(curves: Sequence[Curve], title: str) -> str:
    """What the picture says, in words."""
    entries = [
        _(
            "{curve}: {first:.4g} at update {begin:,}, {last:.4g} at update {end:,}, lowest {lowest:.4g}",
            curve=curve.name,
            first=curve.values[0],
            begin=curve.updates[0],
            last=curve.values[-1],
            end=curve.updates[-1],
            lowest=curve.values.min(),
        )
        for curve in curves
        if len(curve.updates)
    ]
    found = "; ".join(entries) or _("Nothing is measured yet")
    return f"{title}. {found}."
