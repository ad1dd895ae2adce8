"""Query, key, value: one query and all keys as a scene; then the weight of one key, written out by hand."""

from collections.abc import Callable
from functools import partial

import numpy as np
import streamlit as st

from app import components
from app.figures.attention_stages import stages_table
from app.figures.axes import TokenAxis
from app.figures.head_sharpness import carries_no_word
from app.figures.mask_reasons import key_name, row_name
from app.languages import _, speaking
from app.languages.catalogues import ENGLISH
from app.stage.controls import controls
from app.stage.heads import KEYS, QUERIES
from app.stage.lecture import shown_scene
from app.stage.question_card import predict
from app.stage.scene import Scene
from app.stage.template import details, say
from app.state.choices import WRITTEN_STEP
from app.state.color_scheme import is_dark
from app.views.hand.arithmetic import ByHand, differences, first_edited
from app.views.hand.calculation_steps import STEPS, Calculation
from app.views.hand.hand_figures import row_stages, tensor_stages
from app.views.hand.latex import Writing
from app.views.hand.numpy_snippet import numpy_snippet
from app.views.hand.scene_message import scene_message
from app.views.shared.buttons import buttons
from app.views.shared.number_tables import readable
from app.views.shared.show_figure import download_and_table
from transformer.model.attention_kinds import SITES, STAGES, Kind


def draw(scene: Scene) -> None:
    """Draws the page from top to bottom."""
    kind, layer, head = controls(scene).kind_layer_head()
    this = _calculation(scene, kind, layer, head)
    parts = scene.mask_parts(kind)
    message = scene_message(kind, (this.queries, this.keys), this.tensors, parts, (this.query, this.hand.chosen))
    message["scene"] = shown_scene.name()
    message["is_chosen"] = KEYS[kind].is_chosen  # if so, the page opens with the whole calculation
    with st.container(key="picture_query_scene"):
        components.query_scene(message, key="query_scene", on_choose=partial(_choose, kind))
    stages = tensor_stages(this.tensors, this.query) if _edit_note(this) else row_stages(this.hand)
    download_and_table(
        key="query_scene",
        name=_("{head}: query {query} and all keys", head=this.title, query=this.query + 1),
        table=lambda: stages_table(stages, this.keys),
    )
    say(
        _(
            "The query of a token is compared with every key: each dot product is a score, and the softmax turns the "
            "scores into weights that sum to 1."
        ),
        _("The output of the head is the sum of the values, each times its weight."),
        _("Click another token to see its query; click a row to follow one key."),
    )
    predict(scene, "above-half")
    details(lambda: _details(this))


def _calculation(scene: Scene, kind: Kind, layer: int, head: int) -> Calculation:
    """The calculation for the chosen query and key; without a choice, for the key that the query attends to most."""
    queries, keys = scene.axes(kind)
    site = SITES[kind].format(layer)
    recorded = scene.record(*(f"{site}.{name}" for name in STAGES))
    tensors = {name: recorded[f"{site}.{name}"][head] for name in STAGES}
    query = min(QUERIES[kind].open(_opening_query(kind, tensors["weights"], queries, keys)), len(queries) - 1)
    key = min(KEYS[kind].open(int(tensors["weights"][query].argmax())), len(keys) - 1)
    return Calculation(
        scene,
        kind,
        layer,
        head,
        queries,
        keys,
        query,
        tensors,
        ByHand(tensors["query"][query], tensors["key"], tensors["value"], tensors["mask"][query], key),
    )


def _opening_query(kind: Kind, weights: np.ndarray, queries: TokenAxis, keys: TokenAxis) -> int:
    """The query with which the page opens.

    In encoder-decoder attention it is, among the queries for a word with a weight above 0.5 on a word, the one whose
    strongest key is farthest from the query's own position; the first query if there is none. In self-attention it is
    the query in the middle, which has keys before and after it. `weights`: (T, S) or (T, T).
    """
    if kind != "cross":
        return len(weights) // 2
    strongest = weights.argmax(axis=-1)  # (T,)
    pairs = zip(queries.predicts, (keys.tokens[key] for key in strongest), strict=True)
    is_of_words = np.array([not any(map(carries_no_word, pair)) for pair in pairs])
    moved = np.where((weights.max(axis=-1) > 0.5) & is_of_words, np.abs(strongest - np.arange(len(weights))), -1)
    return int(moved.argmax())


def _choose(kind: Kind, name: str, place: int) -> None:
    """Takes over a query or key chosen in the scene. A new query opens with the key that it attends to most."""
    if name == "query":
        QUERIES[kind].choose(place)
        KEYS[kind].forget()
    else:
        KEYS[kind].choose(place)


def _details(this: Calculation) -> None:
    _overview(this, int(this.tensors["weights"][this.query].argmax()))
    for step in _chosen_steps():
        step(this)


def _chosen_steps() -> list[Callable[[Calculation], None]]:
    """One step, or all of them below each other."""
    drawn = {name: step[1] for name, step in STEPS.items()} | {"check": _checks}
    titles = {name: _(step[0]) for name, step in STEPS.items()}
    titles |= {"check": _("The model's number?"), "all": _("All")}
    chosen = buttons(WRITTEN_STEP, titles, _("Step"), says=False)
    return list(drawn.values()) if chosen == "all" else [drawn[chosen]]


def _overview(this: Calculation, strongest: int) -> None:
    """The whole calculation of the weight of the chosen key."""
    hand = this.hand
    with st.container(key="text_hand"):
        row, column = row_name(this.queries, this.query), key_name(this.keys, hand.chosen)
        st.text(_("{row} attends to {key}. With what weight?", row=row, key=column))
    if note := _edit_note(this):
        st.info(note)
    st.latex(Writing(hand, this.query, is_dark()).summary())
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.button(
            _("Strongest key"),
            key="strongest",
            on_click=KEYS[this.kind].choose,
            args=(strongest,),
            help=_(
                "The key to which this query gives the largest weight. The page opens with it, unless "
                "another was chosen."
            ),
        )
        components.copy_button(
            _snippet(this),
            _("Copy as NumPy"),
            _("Copies a short Python program that prints these numbers"),
            key="copy_numpy",
        )


def _edit_note(this: Calculation) -> str:
    """Says that the calculation is without an edit, if one changes this row of the head; else ""."""
    site = first_edited(this.hand, this.tensors, this.query) if this.scene.subject.edits else None
    if site is None:
        return ""
    if site == "context":
        return _("An edit changes the context of this head: the calculation below is without the edit.")
    return _("An edit changes this head after its scores: the calculation below is without the edit.")


def _checks(this: Calculation) -> None:
    """The numbers by hand beside the tensors, and the calculation as a file."""
    st.header(_("Is it the model's number?"), anchor=False)
    st.markdown(
        _(
            "Each step by hand beside the model's own tensor. What differs by more than rounding is changed by the "
            "edit, directly or through a step before. The context is shown where it is largest."
        )
        if _edit_note(this)
        else _(
            "Each step by hand beside the model's own tensor. By hand the sums are carried in double precision, the "
            "model computes in single precision; what differs is rounding. The context is shown where it is largest."
        )
    )
    rows = differences(this.hand, this.tensors, this.query)
    st.dataframe(
        **readable(rows), hide_index=True, width="content", alt=_("Each step by hand beside the tensor of the model")
    )
    source = st.expander(_("The same as NumPy"), on_change="rerun", key="hand_numpy")
    if source.open:
        source.caption(_("It prints these numbers and needs only NumPy: what “Copy as NumPy” above copies."))
        source.code(_snippet(this), language="python", height=420)
        source.download_button(_("Save as a file"), _snippet(this), "by_hand.py", "text/x-python", on_click="ignore")


def _snippet(this: Calculation) -> str:
    with speaking(ENGLISH):  # like all comments of the program
        return numpy_snippet(this.hand, this.queries, this.keys, query=this.query, title=this.title)
