"""Shuffle the words: positions are swapped, shifted, shuffled or removed; the words stay. Does the model know order?

A search finds the swap that is shown first; nothing is edited until something is clicked.
"""

from functools import partial
from typing import TypeGuard

import streamlit as st

from app import components
from app.compute.outcomes import outcome_of
from app.figures.axes import in_words
from app.figures.theme import NATS, fixed
from app.languages import _
from app.library.families import shipped_members
from app.library.names import display_name
from app.library.source_code import lines_of_definition
from app.pages import page_named, query
from app.stage import template
from app.stage.edit_words import edit_words
from app.stage.scene import Scene
from app.state import edit_choices
from app.state.events import open_checkpoint
from app.views.shared.show_figure import download_and_table
from app.views.shared.triplet import triplet
from app.views.whatif.before_and_after import before_and_after
from app.views.whatif.order_comparison import by_each_model, draw_comparison
from app.views.whatif.order_data import edit_of, order_data
from app.views.whatif.order_ranking import (
    KINDS,
    Lost,
    PositionEdit,
    Reordering,
    lost_by_order,
    order_of,
    order_table,
    striking,
)
from app.views.whatif.order_sentences import has_window, sentences
from transformer.analysis.edits import Edit, PositionsOff, PositionsShuffled, PositionsSwapped


def draw(scene: Scene) -> None:
    """Draws what each change costs, both orders by each model, both translations, and sentences about them."""
    if scene.config.positions == "none":
        _without_positions(scene)
        return
    lost = lost_by_order(scene)
    first = striking(scene, lost)
    made = next((edit for edit in reversed(scene.subject.edits) if _is_of_encoder(edit)), None)
    shown = made or first
    _striking(scene, lost, first, made)
    order = order_of(scene, shown if isinstance(shown, PositionsShuffled | PositionsSwapped) else first)
    found = by_each_model(scene, order)
    with st.container(key="whatif_order_duo"):
        left, right = st.columns([3, 2], gap="medium")
        with left:
            with st.container(key="picture_position_edits"):
                components.position_edits(
                    order_data(scene, lost, first, made), key="position_edits", on_choose=partial(_choose, scene, lost)
                )
            name = _("What each change of the positions costs")
            download_and_table(key="position_edits", name=name, table=partial(order_table, lost))
        with right:
            draw_comparison(scene, order, found, key="whatif_order_comparison")
    if made:
        before_and_after(scene, key="whatif_order_outcome")
    else:
        alone = scene.subject.original.edited(first)
        before_and_after(scene, key="whatif_order_outcome", edited=alone, label=_named(scene, first))
    template.say(*sentences(scene, lost, shown, order))
    template.details(partial(_details, scene))


def prepare(scene: Scene) -> None:
    """Computes what each change of the positions costs, and the translation with the change that is shown first,
    before the experiment is opened."""
    if scene.config.positions != "none":
        first = striking(scene, lost_by_order(scene))
        by_each_model(scene, order_of(scene, first))
        edited = scene.subject.original.edited(first)
        outcome_of(edited, scene.translated_by(edited.original), scene.best(edited))


def _is_of_encoder(edit: Edit) -> TypeGuard[PositionEdit]:
    return isinstance(edit, KINDS) and edit != PositionsOff("decoder")


def _choose(scene: Scene, lost: Lost, number: int) -> None:
    """Makes a change instead of the current one, or undoes it."""
    edit = edit_of(lost, len(scene.source), number)
    if edit:
        edit_choices.replace(KINDS, None if edit_choices.is_on(edit) else edit, scene.subject.edits)


def _striking(scene: Scene, lost: Lost, first: Reordering, made: PositionEdit | None) -> None:
    """Draws the change that is shown first, what it costs, and a button that makes it."""
    swaps = isinstance(first, PositionsSwapped)
    with st.container(key="whatif_ranking", horizontal=True, vertical_alignment="center", gap="small"):
        with st.container(key="text_strongest", width="content"):
            if (nats := lost.of(first)) is None:
                st.text(_("The words stay where they are; only their positions are exchanged."))
            else:
                sentence = _(
                    "The most striking change: {change}. The translation loses {nats} nats.",
                    change=_named(scene, first),
                    nats=fixed(nats, 2),
                )
                means = _("A nat is the unit of natural logarithms; {meaning}.", meaning=_(NATS))
                st.text(f"{sentence}\n{means}")
        st.button(
            _("Swap them") if swaps else _("Shuffle them"), disabled=made == first,
            on_click=edit_choices.replace, args=(KINDS, first, scene.subject.edits),
        )  # fmt: skip


def _named(scene: Scene, edit: PositionEdit) -> str:
    """A change in words, for example “dog” ↔ “cat”."""
    if isinstance(edit, PositionsSwapped) and max(edit.first, edit.second) < len(scene.source):
        one, other = (in_words(scene.source.tokens[place]) for place in (edit.first, edit.second))
        return _("“{one}” ↔ “{other}”", one=one, other=other)
    return edit_words(edit)


def _without_positions(scene: Scene) -> None:
    """Draws both orders for a model without positions, in which there is nothing to edit."""
    size = len(scene.source)
    order = (*range(size - 2, -1, -1), size - 1)  # all tokens backwards, but </s> stays last
    draw_comparison(scene, order, by_each_model(scene, order), key="whatif_order_comparison")
    if has_window(scene):
        none = _(
            "This model has no positions, so there is nothing to swap or to shift: only its attention window tells the "
            "encoder which words are near each other."
        )
    else:
        none = _(
            "This model has no positions, so there is nothing to swap or to shift: for its encoder, every order of "
            "these words is the same, to rounding."
        )
    template.say(
        none,
        _("Its decoder has none either; it knows where it is from the tokens that it has written."),
    )
    if file := shipped_members("model.positions", scene.task).get("sinusoidal"):
        label = _("Open one that has them: {name}", name=display_name(file))
        st.button(label, on_click=open_checkpoint, args=(file.name,))
    template.details(partial(_details, scene))


def _details(scene: Scene) -> None:
    triplet(
        _("positions swapped, shifted, shuffled, removed"),
        r"x_i = \sqrt{d_{model}}\;E[\,id_i\,] + PE_{\pi(i)}",
        _(
            "The words keep their places in the tensor and exchange their positions. Attention is a sum over all "
            "keys, so the places do not matter: the outputs of the encoder and the translation are those of the "
            "reordered sentence, up to rounding. The table beside the bars compares both: it computes the reordered "
            "sentence and puts its outputs back into the first order. What each change costs is measured on the "
            "original model, one change at a time, while the decoder reads the original translation. "
            "Shown first is the swap of two whole words that costs most among those that change the translation."
        ),
        lines_of_definition("analysis/edits/model_edits.py", "PositionsSwapped.sites"),
        origin="elsewhere",
    )
    if has_window(scene):
        st.markdown(
            _(
                "This model has an attention window: an attention adds up only over keys at most {window} places away. "
                "It goes by the places of the words, not by their positions, so here the two orders are *not* the same "
                "to the model, and without positions more than rounding is left.",
                window=scene.config.attention_window,
            )
        )
    label = _("Both orders word by word: page Positions")
    st.page_link(page_named("positions"), label=label, icon=":material/swap_horiz:", query_params=query())
