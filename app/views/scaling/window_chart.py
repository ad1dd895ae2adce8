"""What a window of self-attention costs (window_changes.py), as a chart and as a table."""

import numpy as np

from app.figures.charts import FAINT, Figure, axis, chart_layout, line_at
from app.figures.panels import FigurePart
from app.figures.tables import Table
from app.figures.theme import INK, pair_color
from app.languages import _
from app.views.scaling.window_changes import Changes


def window_chart(changes: Changes, chosen: int, *, title: str) -> Figure:
    """The change over r: a line per model that is restricted afterwards, and a point per model trained with a window.
    The chosen r is marked."""
    x = np.array(changes.distances, dtype=np.int32)
    data: list[FigurePart] = []
    for name, values, color, dash in (
        (_("this model"), changes.own, pair_color(False), "solid"),
        (_("a small model"), changes.small, INK, "dot"),
    ):
        if values:
            line = {"color": color, "width": 2.5, "dash": dash}
            data.append(_trace(name, x, values, {"mode": "lines+markers", "line": line, "marker": {"size": 6}}))
    if changes.trained:
        sizes, values = zip(*changes.trained, strict=True)
        marker = {"color": pair_color(True), "size": 12, "symbol": "diamond"}
        name = _("small, trained with the window")
        data.append(_trace(name, np.array(sizes, dtype=np.int32), values, {"mode": "markers", "marker": marker}))
    every = [*changes.own, *changes.small, *(change for _r, change in changes.trained)]
    lowest, highest, last = min(0.0, *every), max(0.0, *every), changes.distances[-1]
    room = 0.06 * (highest - lowest) + 0.1
    more = {
        "shapes": [line_at(x=chosen, line={"color": FAINT, "width": 3})],
        "xaxis": axis(_("r: positions on each side"), [-0.4, last + 0.4], dtick=last // 12 + 1),
        "yaxis": axis(_("change, nats"), [lowest - room, highest + room]),
        "showlegend": True,
    }
    return Figure(data, chart_layout(title, 320, top=72) | more)


def _trace(name: str, x: np.ndarray, values: tuple[float, ...], look: FigurePart) -> FigurePart:
    hover = "r = %{x}<br>%{y:.2f}<extra>" + name + "</extra>"
    y = np.array(values, dtype=np.float32)
    return {"type": "scatter", "x": x, "y": y, "name": name, "hovertemplate": hover} | look


def window_table(changes: Changes) -> Table:
    """One row per r. A model without a number has an empty cell."""
    trained = dict(changes.trained)
    columns: Table = {"r": list(changes.distances), _("this model"): list(changes.own)}
    if not changes.small:
        return columns
    learnt = [trained.get(r) for r in changes.distances]
    return {**columns, _("a small model"): list(changes.small), _("small, trained with the window"): learnt}
