"""Why several heads? What each head of a layer writes, and what the model predicts without it (paper, section 3.2.2).

In the details: h heads are h slices of one matrix, their results are added up, and h heads cost no more than one head.
Each section there is a fragment of its own inside the fragment of the page, in which the head is chosen.
"""

from functools import partial

import streamlit as st

from app import components
from app.languages import _
from app.library.source_code import lines_of_definition
from app.stage.controls import controls, row_of_tokens
from app.stage.family_link import family_link
from app.stage.scene import Scene
from app.stage.section import section
from app.stage.template import details, experiment, say
from app.state.choices import SOURCE_TOKEN, STEP
from app.state.detail_choices import HEADS_LEFT, MODES_OF_HEADS
from app.state.events import choose_head
from app.views.multihead.fixed_attention import fixed_attention, papers_example
from app.views.multihead.head_cost import Cost, choices, cost, cost_text
from app.views.multihead.head_grid_data import grid_data, grid_table, layer_of
from app.views.multihead.head_outputs_section import written_by_heads
from app.views.multihead.slices_section import slices
from app.views.shared.shapes import shape_text
from app.views.shared.show_figure import download_and_table
from app.views.shared.triplet import triplet
from transformer.model.attention_kinds import KINDS, Kind


def draw(scene: Scene) -> None:
    """Draws the page from top to bottom."""
    kind, layer, head = controls(scene).kind_layer_head(in_picture=True)
    found = layer_of(scene, kind, layer)
    last = len(scene.hypothesis.ids) - 1
    step = min(STEP.value, last) if STEP.is_chosen else found.opening_step
    with st.container(key="picture_head_grid"):
        components.head_grid(
            grid_data(found, step, head, HEADS_LEFT.open()), key="head_grid", on_choose=partial(_choose, layer)
        )
    name = _("{kind}, layer {layer}: what is predicted with other heads", kind=_(KINDS[kind]), layer=layer + 1)
    download_and_table(key="head_grid", name=name, table=lambda: grid_table(found))
    bar = (
        _(
            "Each head has its own attention weights; the bar is the mean length of the vectors that it writes, and "
            "the vectors of all heads of a layer are added."
        )
        if kind == "encoder"
        else _(
            "Each head has its own attention weights; the bar is the length of the vector that it writes, and the "
            "vectors of all heads of a layer are added."
        )
    )
    say(
        bar,
        _(
            "Below the bar: the token that the model predicts without that head (or with that head alone). It is "
            "marked if it differs from the prediction with all heads."
        ),
        fixed_attention(scene, kind, layer),
    )
    papers_example(scene)
    experiment(_("Switch a head off: does the translation change?"), experiment="heads")
    family_link(_("Models trained with one head, two or sixteen: which one makes the fewest mistakes?"), "model.heads")
    details(lambda: _details(scene, kind, layer, head, step))


def _choose(layer: int, name: str, place: int) -> None:
    """Handles the choice of a head or a step in the picture, or of which heads are left."""
    if name == "mode":
        HEADS_LEFT.choose(MODES_OF_HEADS[place])
    elif name == "step":
        STEP.choose(place)
    else:
        choose_head(layer, place)


def _details(scene: Scene, kind: Kind, layer: int, head: int, step: int) -> None:
    slices(scene, kind, layer, head)
    place, label = (SOURCE_TOKEN, _("Token")) if kind == "encoder" else (STEP, _("Step t"))
    axis = scene.source if kind == "encoder" else scene.target
    row = row_of_tokens(axis, place, label, 0 if kind == "encoder" else step, key=f"pick_{place.key}")
    written_by_heads(scene, kind, layer, head, row)
    _cost(scene, kind)


@section
def _cost(scene: Scene, kind: Kind) -> None:
    st.header(_("Same cost?"), anchor=False)
    queries, keys = scene.axes(kind)
    config = scene.config
    sizes = (config.d_model, len(queries), len(keys))
    counts = choices(config.d_model, config.heads)
    own, one, whole = cost(config.heads, *sizes), cost(1, *sizes), cost(config.heads, *sizes, split=False)
    st.markdown(_one_head(one, sizes) if own.heads == 1 else _several_heads(own, one, whole, sizes))
    st.table(cost_text(counts, config.heads, sizes), border="horizontal")
    st.caption(
        _(
            "Bold: this checkpoint. Multiplications, each with its addition, are those of the projections, of q · k "
            "and of weights · v. What grows with h is the number of softmax rows and of scores: every head compares "
            "every query with every key, but each comparison takes only d_k = d_model / h multiplications. "
            "This costs memory, not multiplications."
        )
    )
    triplet(
        _("section 3.2.2 and table 3, row A"),
        r"d_k = d_v = d_{model}/h",
        _(
            "“Due to the reduced dimension of each head, the total computational cost is similar to that of "
            "single-head attention with full dimensionality.” The advantage: each head has weights of its own over the "
            "sentence. In the paper's experiments at equal cost one head was 0.9 BLEU worse than the best number of "
            "heads; too many were worse too."
        ),
        lines_of_definition("config.py", "ModelConfig.d_k"),
        shape=shape_text(("H", "E"), (config.heads, config.d_k)),
    )


def _one_head(one: Cost, sizes: tuple[int, int, int]) -> str:
    return _(
        "This attention has one head, {d_k} wide. It has **{parameters:,} parameters** and takes **{multiplications:,} "
        "multiplications** for this sentence ({queries} queries, {keys} keys). More heads that share d_model would "
        "cost the same.",
        d_k=one.d_k,
        parameters=one.parameters,
        multiplications=one.multiplications,
        queries=sizes[1],
        keys=sizes[2],
    )


def _several_heads(own: Cost, one: Cost, whole: Cost, sizes: tuple[int, int, int]) -> str:
    return _(
        "Multi-head attention is {heads} attentions side by side, each only {d_k} wide. Together they have "
        "**{parameters:,} parameters** and take **{multiplications:,} multiplications** for this sentence ({queries} "
        "queries, {keys} keys). A single head as wide as d_model has {parameters_of_one:,} and takes "
        "{multiplications_of_one:,}: the same. {heads} heads, each as wide as d_model, would have "
        "{parameters_of_whole:,} and take {multiplications_of_whole:,}.",
        heads=own.heads,
        d_k=own.d_k,
        parameters=own.parameters,
        multiplications=own.multiplications,
        queries=sizes[1],
        keys=sizes[2],
        parameters_of_one=one.parameters,
        multiplications_of_one=one.multiplications,
        parameters_of_whole=whole.parameters,
        multiplications_of_whole=whole.multiplications,
    )
