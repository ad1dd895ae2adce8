"""Why several heads? What each head of a layer writes, and what the model predicts without it (paper, section 3.2.2).

In the details: h heads are h slices of one matrix, their results are added up, and all that costs no more than one.
Each section there is a fragment of its own inside the page's, in which the head is chosen.
"""

import streamlit as st

from app import components
from app.library.source_code import lines_between
from app.stage.controls import controls, row_of_tokens
from app.stage.scene import Scene
from app.stage.section import section
from app.stage.template import details, experiment, say
from app.state.choices import SOURCE_TOKEN, STEP, choose_head
from app.views.multihead.head_cost import What, choices, cost, cost_bars, cost_table, cost_text
from app.views.multihead.head_grid_data import grid_data, grid_table, layer_of
from app.views.multihead.head_outputs_section import written_by_heads
from app.views.multihead.slices_section import slices
from app.views.shared.placed import belongings, placed
from app.views.shared.triplet import shape_text, triplet
from transformer.model.attention_kinds import KINDS, Kind

CHARTS: tuple[tuple[What, str], ...] = (
    ("parameters", "Parameters"),
    ("multiplications", "Multiplications"),
    ("scores", "Scores to compare"),
)


def draw(scene: Scene) -> None:
    """Draws the page from top to bottom."""
    kind, layer, head = controls(scene).kind_and_layer()
    found = layer_of(scene, kind, layer)
    last = len(scene.hypothesis.ids) - 1
    step = min(STEP.value, last) if STEP.is_chosen else found.telling_step
    with st.container(key="picture_head_grid"):
        components.head_grid(
            grid_data(found, step, head), key="head_grid", on_choose=lambda chosen: choose_head(layer, chosen)
        )
    name = f"{KINDS[kind]}, layer {layer + 1}: what is predicted with other heads"
    belongings(key="head_grid", name=name, table=lambda: grid_table(found))
    written = "mean length of the vectors" if kind == "encoder" else "length of the vector"
    say(
        f"Each head has its own attention weights; the bar is the {written} that it writes, and the vectors of all "
        "heads of a layer are added.",
        "Below the bar: the token that the model predicts without that head (or with that head alone). It is marked if "
        "it differs from the prediction with all heads.",
    )
    experiment("Switch a head off: does the translation change?", experiment="heads")
    details(lambda: _details(scene, kind, layer, head))


def _details(scene: Scene, kind: Kind, layer: int, head: int) -> None:
    slices(scene, kind, layer, head)
    place, label = (SOURCE_TOKEN, "Token") if kind == "encoder" else (STEP, "Step t")
    axis = scene.source if kind == "encoder" else scene.target
    row = row_of_tokens(axis, place, label, key=f"pick_{place.key}")
    written_by_heads(scene, kind, layer, head, row)
    _cost(scene, kind)


@section
def _cost(scene: Scene, kind: Kind) -> None:
    st.header("Same cost?", anchor=False)
    queries, keys = scene.axes(kind)
    config = scene.config
    sizes = (config.d_model, len(queries), len(keys))
    counts = choices(config.d_model, config.heads)
    own, one, whole = cost(config.heads, *sizes), cost(1, *sizes), cost(config.heads, *sizes, split=False)
    have, take = ("Together they have", "take") if own.heads > 1 else ("It has", "takes")
    st.markdown(
        f"{_beside(own.heads, own.d_k)} {have} **{own.parameters:,} parameters** and {take} "
        f"**{own.multiplications:,} multiplications** for this sentence ({len(queries)} queries, {len(keys)} keys). "
        + (
            f"A single head as wide as d_model has {one.parameters:,} and takes {one.multiplications:,}: the same. "
            f"{own.heads} heads, each as wide as d_model, would have {whole.parameters:,} and take "
            f"{whole.multiplications:,}."
            if own.heads > 1
            else "More heads that share d_model would cost the same."
        )
    )
    for column, (what, title) in zip(st.columns(3, gap="medium"), CHARTS, strict=True):
        name = f"{title} of one attention over the number of heads"
        said = f"sharing d_model = {config.d_model}: " + "; ".join(
            f"{heads}: {getattr(cost(heads, *sizes), what):,}" for heads in counts
        )
        if what != "scores":
            said += ". Each as wide as d_model: " + "; ".join(
                f"{heads}: {getattr(cost(heads, *sizes, split=False), what):,}" for heads in counts
            )
        with column:
            placed(
                cost_bars(what, counts, config.heads, sizes, title=title),
                key=f"cost_{what}",
                name=name,
                alt=f"{name}, {said}.",
                table=lambda: cost_table(counts, sizes),
            )
    st.table(cost_text(counts, config.heads, sizes), border="horizontal")
    st.caption(
        "Bold: this checkpoint. Multiplications, each with its addition, are those of the projections, of q · k and of "
        "weights · v. What grows with h is the number of softmax rows and of scores: every head compares every query "
        "with every key, but each comparison is so much narrower. This costs memory, not multiplications."
    )
    triplet(
        "section 3.2.2 and table 3, row A",
        r"d_k = d_v = d_{model}/h",
        "“Due to the reduced dimension of each head, the total computational cost is similar to that of single-head "
        "attention with full dimensionality.” What it buys: each head has weights of its own over the sentence. In the "
        "paper's experiments at equal cost one head was 0.9 BLEU worse than the best number of heads; too many were "
        "worse too.",
        lines_between("config.py", "ModelConfig.d_k"),
        shape=shape_text(("H", "E"), (config.heads, config.d_k)),
    )


def _beside(heads: int, d_k: int) -> str:
    if heads == 1:
        return f"This attention has one head, {d_k} wide."
    return f"Multi-head attention is {heads} attentions side by side, each only {d_k} wide."
