"""What a window of self-attention costs (window_losses.py), as a chart and as a table."""

import numpy as np

from app.figures.charts import FAINT, Figure, axis, line_at, settled
from app.figures.panels import Piece
from app.figures.tables import Table
from app.figures.theme import INK, pair_color
from app.languages import _
from app.views.scaling.window_losses import Losses


def window_chart(losses: Losses, chosen: int, *, title: str) -> Figure:
    """The change over r: a line per model that is restricted afterwards, and a point per model trained with a window.
    The chosen r is marked."""
    x = np.array(losses.distances, dtype=np.int32)
    data: list[Piece] = []
    for name, values, color, dash in (
        (_("this model"), losses.own, pair_color(False), "solid"),
        (_("a small model"), losses.small, INK, "dot"),
    ):
        if values:
            line = {"color": color, "width": 2.5, "dash": dash}
            data.append(_trace(name, x, values, {"mode": "lines+markers", "line": line, "marker": {"size": 6}}))
    if losses.trained:
        sizes, values = zip(*losses.trained, strict=True)
        marker = {"color": pair_color(True), "size": 12, "symbol": "diamond"}
        name = _("small, trained with the window")
        data.append(_trace(name, np.array(sizes, dtype=np.int32), values, {"mode": "markers", "marker": marker}))
    lowest = min(0.0, *losses.own, *losses.small, *(change for _r, change in losses.trained))
    more = {
        "shapes": [line_at(x=chosen, line={"color": FAINT, "width": 3})],
        "xaxis": axis(_("r: positions on each side"), [-0.4, losses.distances[-1] + 0.4], tickformat="d"),
        "yaxis": axis(_("change, nats"), [1.06 * lowest - 0.2, max(0.0, -0.04 * lowest) + 0.2]),
        "showlegend": True,
    }
    return Figure(data, settled(title, 320, top=72) | more)


def _trace(name: str, x: np.ndarray, values: tuple[float, ...], look: Piece) -> Piece:
    hover = "r = %{x}<br>%{y:.2f}<extra>" + name + "</extra>"
    y = np.array(values, dtype=np.float32)
    return {"type": "scatter", "x": x, "y": y, "name": name, "hovertemplate": hover} | look


def window_table(losses: Losses) -> Table:
    """One row per r. A model without a number has an empty cell."""
    trained = dict(losses.trained)
    columns: Table = {"r": list(losses.distances), _("this model"): list(losses.own)}
    if not losses.small:
        return columns
    learnt = [trained.get(r) for r in losses.distances]
    return {**columns, _("a small model"): list(losses.small), _("small, trained with the window"): learnt}
