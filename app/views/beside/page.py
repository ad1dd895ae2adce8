"""Side by side: a page as it is, and the same page for the original model, another checkpoint or another sentence.

Each of the two is a frame with an address of its own, so the server sees two more visitors, which share nothing.
"""

from urllib.parse import urlencode

import streamlit as st

from app import components
from app.languages import _, gettext_noop
from app.library.checkpoints import CheckpointFile
from app.library.names import display_name
from app.pages import FIRST, PAGES, info
from app.stage import template
from app.stage.checkpoint_choice import uploads
from app.stage.scene import Scene
from app.state.address import link_texts
from app.state.choice import Event
from app.state.choices import (
    BESIDE,
    BESIDE_CHECKPOINT,
    BESIDE_PAGE,
    BESIDE_SENTENCE,
    CHECKPOINT,
    CHOICES,
    EDITS,
    FRAMED,
    LONGEST_SECOND,
    SENTENCE,
)
from app.state.lecture_choices import OF_A_LECTURE
from app.views.shared.another_word import most_striking
from app.views.shared.buttons import buttons
from app.views.shared.other_checkpoints import has_its_task, other_checkpoints

SIDES = {
    "original": gettext_noop("Original model"),
    "checkpoint": gettext_noop("Checkpoint"),
    "sentence": gettext_noop("Sentence"),
}
NAME = "beside"  # the name of this page


def draw(scene: Scene) -> None:
    """Draws the line of controls, and the two frames."""
    with st.container(key="beside_line", horizontal=True, vertical_alignment="center", gap="small"):
        pages = [page.name for page in PAGES if page.name != NAME]
        BESIDE_PAGE.open(allowed=pages)
        st.selectbox(_("Page"), pages, key=BESIDE_PAGE.key, persist_state="session", width=220,
                     format_func=lambda name: _(info(name).title), label_visibility="collapsed")  # fmt: skip
        names = {side: _(name) for side, name in SIDES.items()}
        side = buttons(BESIDE, names, _("Beside it"), opening=_opening(scene), says=False)
        other = _other(side, scene)
    if CHECKPOINT.value in uploads():
        st.info(_("A checkpoint that you opened is seen by this tab alone, so it cannot be shown in a frame."))
        return
    if other is None:
        return
    name, texts = other
    model = display_name(scene.subject.file)
    model = _("{model} (edited)", model=model) if EDITS.value else model
    here = scene.translation.source if side == "sentence" else model
    components.frames([(here, _address(_texts())), (name, _address(texts))], key="frames")
    template.say(_("Each side is a page of its own: what you choose in one does not change the other."))


def _opening(scene: Scene) -> str:
    """The first choice: the original model, if there are edits; else a checkpoint of the same task, if there is one;
    else a sentence."""
    own = scene.subject.file
    has_partner = any(has_its_task(file, own) for file in _partners(scene).values())
    return "original" if EDITS.value else "checkpoint" if has_partner else "sentence"


def _partners(scene: Scene) -> dict[str, CheckpointFile]:
    """The other checkpoints, those of the same task first; without uploaded ones, which a frame cannot open."""
    files = other_checkpoints(scene.subject.file)
    return {name: file for name, file in files.items() if name not in uploads()}


def _other(side: str, scene: Scene) -> tuple[str, dict[str, str]] | None:
    """What the second frame shows: its name, and what is chosen in it. None: nothing yet, and the page says why."""
    if side == "sentence":
        BESIDE_SENTENCE.open(most_striking(scene)[:LONGEST_SECOND])
        st.text_input(_("Second sentence"), key=BESIDE_SENTENCE.key, persist_state="session", width=360,
                      label_visibility="collapsed", placeholder=_("Type a second sentence"),
                      max_chars=LONGEST_SECOND, autocomplete="off")  # fmt: skip
        text = BESIDE_SENTENCE.value.strip()
        if not text:
            st.text(_("Type a second sentence: the page is shown for both."))
            return None
        return text, _texts("sentence", "text") | {SENTENCE.key: text}
    if side == "checkpoint":
        files = _partners(scene)
        if not files:
            st.text(_("There is no other checkpoint."))
            return None
        BESIDE_CHECKPOINT.open(next(iter(files)), files)
        st.selectbox(_("The other checkpoint"), list(files), key=BESIDE_CHECKPOINT.key, persist_state="session",
                     width=340, format_func=lambda name: display_name(files[name]),
                     label_visibility="collapsed")  # fmt: skip
        name = BESIDE_CHECKPOINT.value
        # the sentence as the first checkpoint has read it: the other one may correct its spelling in another way
        same = {CHECKPOINT.key: name, SENTENCE.key: scene.translation.sentence}
        return display_name(files[name]), _texts("checkpoint") | same
    if not EDITS.value:
        st.text(_("Nothing is edited yet. The page What if has the edits."))
        return None
    texts = _texts()
    del texts[EDITS.key]
    return _("Original model"), texts


def _texts(*events: Event) -> dict[str, str]:
    """The address parameters of the page in the frames, without those that the events reset or that a lecture uses."""
    texts = link_texts(BESIDE_PAGE.value) | {SENTENCE.key: SENTENCE.value, FRAMED.key: FRAMED.write(True)}
    for choice in CHOICES:
        if set(events) & set(choice.reset_by) or choice in OF_A_LECTURE:
            texts.pop(choice.key, None)
    return texts


def _address(texts: dict[str, str]) -> str:
    page = BESIDE_PAGE.value
    return f"./{'' if page == FIRST else page}?{urlencode(texts)}"
