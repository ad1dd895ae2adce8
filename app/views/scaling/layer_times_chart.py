"""The times of the layers of table 1 (`app/compute/layer_times.py`), as a chart and as a table."""

from collections.abc import Mapping, Sequence

import numpy as np

from app.compute.layer_times import KERNEL, LENGTHS
from app.figures.charts import Figure, axis, chart_layout
from app.figures.tables import Table
from app.figures.theme import INK, pair_color
from app.languages import _, gettext_noop
from app.languages.numbers import formatted

_NAMES = {
    "attention": gettext_noop("self-attention"),
    "recurrent": gettext_noop("recurrent (LSTM)"),
    "convolution": gettext_noop("convolutional, k = {k}"),
}
_DASH = {"attention": "solid", "recurrent": "dash", "convolution": "dot"}


def times_chart(times: Mapping[str, Sequence[float]], *, title: str) -> Figure:
    """A line per type of layer, both axes logarithmic."""
    colors = {"attention": pair_color(False), "recurrent": pair_color(True), "convolution": INK}
    data = [
        {
            "type": "scatter",
            "x": np.array(LENGTHS, dtype=np.int32),
            "y": np.array(seconds, dtype=np.float32) * 1000,
            "mode": "lines+markers",
            "line": {"color": colors[name], "width": 2.5, "dash": _DASH[name]},
            "marker": {"color": colors[name], "size": 7},
            "name": _name(name),
            "hovertemplate": "n = %{x}<br>%{y:.3g} ms<extra>" + _name(name) + "</extra>",
        }
        for name, seconds in times.items()
    ]
    ticks = [formatted(n, ",") for n in LENGTHS]
    axes = {
        "xaxis": axis(_("n: tokens"), type="log", tickvals=list(LENGTHS), ticktext=ticks),
        "yaxis": axis(_("milliseconds"), type="log", tickvals=[0.01, 0.1, 1, 10, 100, 1000], tickformat="~g"),
        "showlegend": True,
    }
    return Figure(data, chart_layout(title, 280, top=70) | axes)


def times_table(times: Mapping[str, Sequence[float]]) -> Table:
    """One row per length, in milliseconds."""
    columns = {_("{name}, ms", name=_name(name)): [1000 * each for each in times[name]] for name in times}
    return {_("n: tokens"): list(LENGTHS), **columns}


def _name(layer: str) -> str:
    return _(_NAMES[layer], k=KERNEL)
