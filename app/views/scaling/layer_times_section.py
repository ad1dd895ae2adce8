"""Below table 1 of the paper: how long its layers take on this machine, and the path between two words in each."""

import streamlit as st

from app.compute.layer_times import KERNEL, LENGTHS, layer_times
from app.figures.axes import in_words
from app.languages import _
from app.stage.controls import row_of_tokens
from app.stage.scene import Scene
from app.state.choices import OTHER_TOKEN, SOURCE_TOKEN
from app.views.scaling.layer_times_chart import times_chart, times_table
from app.views.scaling.layer_types import NEIGHBOURS, path_lengths
from app.views.shared.show_figure import show_figure


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
