"""Below table 1 of the paper: how long its layers take on this machine, and the path between two words in each."""

import math
from collections.abc import Mapping, Sequence

import numpy as np
import streamlit as st

from app.compute.layer_times import KERNEL, LENGTHS, layer_times
from app.figures.axes import in_words
from app.figures.charts import Figure, axis, settled
from app.figures.tables import Table
from app.figures.theme import INK, pair_color
from app.languages import _, gettext_noop
from app.languages.numbers import formatted
from app.stage.controls import row_of_tokens
from app.stage.scene import Scene
from app.state.choices import OTHER_TOKEN, SOURCE_TOKEN
from app.views.scaling.layer_types import NEIGHBOURS
from app.views.shared.show_figure import show_figure

NAMES = {
    "attention": gettext_noop("self-attention"),
    "recurrent": gettext_noop("recurrent (LSTM)"),
    "convolution": gettext_noop("convolutional, k = 3"),
}
_DASH = {"attention": "solid", "recurrent": "dash", "convolution": "dot"}


def layers_measured(scene: Scene) -> None:
    """Draws the times, and the paths between two words that the visitor chooses."""
    first = row_of_tokens(scene.source, SOURCE_TOKEN, _("From"), key="path_from")
    second = row_of_tokens(scene.source, OTHER_TOKEN, _("To"), len(scene.source) - 1, key="path_to")
    st.text(_path_text(scene, first, second))
    d = scene.config.d_model
    times = layer_times(d, scene.config.heads)
    title = _("One layer on this machine, d = {d}", d=d)
    show_figure(
        times_chart(times, title=title),
        key="layer_times",
        name=title,
        alt=_("Time of a layer by the number of tokens, from {first} to {last}.", first=LENGTHS[0], last=LENGTHS[-1]),
        table=lambda: times_table(times),
    )
    st.caption(
        _(
            "Measured when this was opened; other programs make it slower. Self-attention grows with n², the others "
            "with n. One core computes everything one after another. A GPU computes all tokens of self-attention and "
            "of a convolution at once; an RNN has to finish each token before the next."
        )
    )


def path_lengths(distance: int) -> dict[str, int]:
    """How many steps or layers lie between two tokens that are so many positions apart: the shortest path in each type
    of layer. `dilated`: convolutions whose gaps grow, so that m layers reach (k^m - 1) / 2 positions in each direction.
    """
    dilated = 0
    while (KERNEL**dilated - 1) // 2 < distance:
        dilated += 1
    return {
        "attention": min(distance, 1),
        "recurrent": distance,
        "convolution": math.ceil(distance / (KERNEL // 2)),
        "dilated": dilated,
        "restricted": math.ceil(distance / NEIGHBOURS),
    }


def _path_text(scene: Scene, first: int, second: int) -> str:
    distance = abs(second - first)
    one, other = (in_words(scene.source.tokens[place]) for place in (first, second))
    if distance == 0:
        return _("“{token}” twice: choose two different tokens.", token=one)
    return _(
        "From “{one}” to “{other}”, distance {distance}: 1 step with self-attention, {recurrent} with an RNN. Layers "
        "that it takes: {convolution} with convolutions of width {k}, {dilated} if their gaps grow, {restricted} with "
        "self-attention to {r} neighbours.",
        one=one,
        other=other,
        distance=distance,
        k=KERNEL,
        r=NEIGHBOURS,
        **path_lengths(distance),
    )


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
            "name": _(NAMES[name]),
            "hovertemplate": "n = %{x}<br>%{y:.3g} ms<extra>" + _(NAMES[name]) + "</extra>",
        }
        for name, seconds in times.items()
    ]
    ticks = [formatted(n, ",") for n in LENGTHS]
    axes = {
        "xaxis": axis(_("n: tokens"), type="log", tickvals=list(LENGTHS), ticktext=ticks),
        "yaxis": axis(_("milliseconds"), type="log", tickvals=[0.01, 0.1, 1, 10, 100, 1000], tickformat="~g"),
        "showlegend": True,
    }
    return Figure(data, settled(title, 280, top=70) | axes)


def times_table(times: Mapping[str, Sequence[float]]) -> Table:
    """One row per length, in milliseconds."""
    columns = {_("{name}, ms", name=_(NAMES[name])): [1000 * each for each in times[name]] for name in times}
    return {_("n: tokens"): list(LENGTHS), **columns}
