"""What to compare instead, if no difference is shown: a line of links, each of which shows one."""

from collections.abc import Callable
from functools import partial

import streamlit as st

from app.languages import _, gettext_noop
from app.library.names import short_name
from app.pages import go_to
from app.stage.scene import Scene
from app.state.choice import Choice
from app.state.choices import COMPARED_CHECKPOINT, COMPARED_SEARCH, COMPARED_SENTENCE, EXPERIMENT, SIDE
from app.views.compare.other_side import search_that_differs
from app.views.shared.another_word import most_striking
from app.views.shared.other_checkpoints import has_its_task, other_checkpoints

SEARCHES = {  # the text of the link to each search
    "greedy": gettext_noop("greedy"),
    "beam2": gettext_noop("beam 2"),
    "beam8": gettext_noop("beam 8"),
    "unpenalised": gettext_noop("beam 4, no length penalty"),
}


def suggest(scene: Scene) -> None:
    """Draws the line of links."""
    offers = _offers(scene)
    with st.container(key="would_differ", horizontal=True, vertical_alignment="center", gap="small"):
        st.text(_("Something differs with:"), width="content")
        for number, (label, choose) in enumerate(offers.items()):
            st.button(label, key=f"would_differ_{number}", type="tertiary", on_click=choose)
        if not scene.subject.edits and st.button(_("a head switched off"), key="would_differ_edits", type="tertiary"):
            EXPERIMENT.choose("heads")
            go_to("whatif")


def _offers(scene: Scene) -> dict[str, Callable[[], None]]:
    """The text of each link, and the function that chooses its comparison."""
    found: dict[str, Callable[[], None]] = {}
    if scene.subject.edits:
        found[_("the original model")] = partial(SIDE.choose, "edits")
    if most_striking(scene):
        found[_("another word")] = partial(_compare, "sentence", COMPARED_SENTENCE)
    own = scene.subject.file
    others = [file for file in other_checkpoints(own).values() if has_its_task(file, own)]
    if others:
        found[_("the model “{name}”", name=short_name(others[0]))] = partial(
            _compare, "checkpoint", COMPARED_CHECKPOINT, others[0].name
        )
    if search := search_that_differs(scene):
        found[_(SEARCHES[search])] = partial(_compare, "search", COMPARED_SEARCH, search)
    return found


def _compare(side: str, choice: Choice[str], value: str | None = None) -> None:
    """Opens the comparison `side` with this `value` of `choice`; without a value the page Compare takes its own."""
    SIDE.choose(side)
    if value is None:
        choice.forget()
    else:
        choice.choose(value)
