"""Query, key, value: one query meets all keys, as a scene; then the weight of one key, written out by hand."""

from collections.abc import Callable
from functools import partial

import numpy as np
import streamlit as st

from app import components
from app.components.chart import chart
from app.figures.attention_stages import stages_table
from app.figures.mask_reasons import key_name, row_name
from app.figures.matrix import matrix_alt, matrix_table
from app.stage.controls import controls
from app.stage.heads import KEYS, QUERIES, choose_cell
from app.stage.scene import Scene
from app.stage.template import details, say
from app.state.choices import WRITTEN_STEP
from app.state.color_scheme import is_dark
from app.views.hand.arithmetic import ByHand, differences
from app.views.hand.calculation_steps import SITE_NAMES, STEPS, Calculation
from app.views.hand.hand_figures import row_stages, weights_map
from app.views.hand.latex import Writing
from app.views.hand.numpy_snippet import numpy_snippet
from app.views.hand.scene_message import scene_message
from app.views.shared.buttons import buttons
from app.views.shared.placed import belongings
from transformer.analysis.batch_masks import mask_parts
from transformer.config import BOS
from transformer.model.attention_kinds import KINDS, SITES, Kind


def draw(scene: Scene) -> None:
    """Draws the page from top to bottom."""
    kind, layer, head = controls(scene).kind_layer_head()
    this = _calculation(scene, kind, layer, head)
    parts = mask_parts(scene.config, scene.translation.source_ids, (BOS, *scene.hypothesis.ids[:-1]), kind)
    message = scene_message(kind, (this.queries, this.keys), this.tensors, parts, (this.query, this.hand.chosen))
    with st.container(key="picture_query_scene"):
        components.query_scene(message, key="query_scene", on_choose=partial(_choose, kind))
    belongings(
        key="query_scene",
        name=f"{this.title}: query {this.query + 1} and all keys",
        table=lambda: stages_table(row_stages(this.hand), this.keys),
    )
    say(
        "The query of a token is compared with every key: each dot product is a score, and the softmax turns the "
        "scores into weights that sum to 1.",
        "The output of the head is the sum of the values, each times its weight.",
        "Click another token to see its query; click a row to follow one key.",
    )
    details(lambda: _details(this))


def _calculation(scene: Scene, kind: Kind, layer: int, head: int) -> Calculation:
    """What is chosen: a query, and the key that it attends to most unless another was chosen."""
    queries, keys = scene.axes(kind)
    site = SITES[kind].format(layer)
    recorded = scene.record(*(f"{site}.{name}" for name in SITE_NAMES))
    tensors = {name: recorded[f"{site}.{name}"][head] for name in SITE_NAMES}
    query = min(QUERIES[kind].open(_opening_query(kind, tensors["weights"])), len(queries) - 1)
    key = min(KEYS[kind].open(int(tensors["weights"][query].argmax())), len(keys) - 1)
    return Calculation(
        scene,
        kind,
        site,
        f"{KINDS[kind]}, layer {layer + 1}, head {head + 1}",
        queries,
        keys,
        query,
        tensors,
        ByHand(tensors["query"][query], tensors["key"], tensors["value"], tensors["mask"][query], key),
    )


def _opening_query(kind: Kind, weights: np.ndarray) -> int:
    """The query that the page opens with: between the languages the one whose word has moved farthest in the sentence,
    in self-attention the one in the middle, which has keys before and after it."""
    rows = np.arange(len(weights))
    if kind != "cross":
        return len(weights) // 2
    moved = np.where(weights.max(axis=-1) > 0.5, np.abs(weights.argmax(axis=-1) - rows), -1)
    return int(moved[: max(len(rows) - 1, 1)].argmax())  # not the end


def _choose(kind: Kind, name: str, place: int) -> None:
    """In the scene another query was chosen, which is followed to the key that it attends to most; or another key."""
    if name == "query":
        QUERIES[kind].choose(place)
        KEYS[kind].forget()
    else:
        KEYS[kind].choose(place)


def _details(this: Calculation) -> None:
    with st.container(key="hand_overview"):
        _overview(this, int(this.tensors["weights"][this.query].argmax()))
    for step in _chosen_steps():
        step(this)


def _chosen_steps() -> list[Callable[[Calculation], None]]:
    """One step, or all of them below each other."""
    drawn = {name: draw for name, (_, draw) in STEPS.items()} | {"check": _checks}
    titles = {name: title for name, (title, _) in STEPS.items()} | {"check": "The model's number?", "all": "All"}
    chosen = buttons(WRITTEN_STEP, titles, "Step", says=False)
    return list(drawn.values()) if chosen == "all" else [drawn[chosen]]


def _overview(this: Calculation, strongest: int) -> None:
    """Where the chosen cell is, and the whole calculation of its weight."""
    hand, weights = this.hand, this.tensors["weights"]
    left, right = st.columns([5, 6], gap="medium")
    with left, st.container(key="picture_hand_map"):
        figure = weights_map(
            weights,
            this.tensors["mask"],
            this.queries,
            this.keys,
            query=this.query,
            key=hand.chosen,
            title=this.title,
        )
        chart(
            figure,
            key="hand_map",
            on_click=partial(choose_cell, this.kind),
            alt=matrix_alt(weights, this.queries, this.keys, this.title),
        )
        st.caption("Click a cell, or choose query and key above. Rows are queries, columns are keys; a row sums to 1.")
    with left:
        belongings(
            key="hand_map",
            name=f"{this.title}: weights",
            table=lambda: matrix_table(weights, this.queries, this.keys),
        )
    with right:
        with st.container(key="said_hand"):
            row, column = row_name(this.queries, this.query), key_name(this.keys, hand.chosen)
            st.text(f"{row} attends to {column}. With what weight?")
        st.latex(Writing(hand, this.query, is_dark()).summary())
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.button(
                "Strongest key",
                key="strongest",
                on_click=KEYS[this.kind].choose,
                args=(strongest,),
                help="The key to which this query gives the largest weight. The page opens with it, unless "
                "another was chosen.",
            )
            components.copy_button(
                _snippet(this),
                "Copy as NumPy",
                "Copies a few lines of Python that stand alone and print these numbers",
                key="copy_numpy",
            )


def _checks(this: Calculation) -> None:
    """The numbers by hand beside the tensors, and the calculation as a file."""
    st.header("Is it the model's number?", anchor=False)
    st.markdown(
        "Each step by hand beside the model's own tensor. By hand the sums are carried in double precision, the model "
        "computes in single precision; what differs is rounding. The context is shown where it is largest."
    )
    rows = differences(this.hand, this.tensors, this.query)
    st.dataframe(rows, hide_index=True, width="content", alt="Each step by hand beside the tensor of the model")
    source = st.expander("The same as NumPy", on_change="rerun", key="hand_numpy")
    if source.open:
        source.caption("It stands alone and prints these numbers: what “Copy as NumPy” above copies.")
        source.code(_snippet(this), language="python", height=420)
        source.download_button("Save as a file", _snippet(this), "by_hand.py", "text/x-python", on_click="ignore")


def _snippet(this: Calculation) -> str:
    return numpy_snippet(this.hand, this.queries, this.keys, query=this.query, title=this.title)
