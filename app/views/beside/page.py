"""Side by side: a page as it is, and the same page for the original model, another checkpoint or another sentence.

Each is a frame with an address of its own, so the server meets two more visitors, and nothing is shared between them.
"""

from urllib.parse import urlencode

import streamlit as st

from app import components
from app.library import checkpoints
from app.pages import FIRST, PAGES, info
from app.stage import template
from app.stage.checkpoint_choice import display_name, uploads
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
    SENTENCE,
)
from app.views.shared.buttons import buttons

SIDES = {"original": "Original model", "checkpoint": "Checkpoint", "sentence": "Sentence"}
NAME = "beside"  # of this page


def draw(scene: Scene) -> None:
    """Draws the line that chooses, and the two frames."""
    with st.container(key="beside_line", horizontal=True, vertical_alignment="center", gap="small"):
        pages = [page.name for page in PAGES if page.name != NAME]
        BESIDE_PAGE.open(allowed=pages)
        st.selectbox("Page", pages, key=BESIDE_PAGE.key, persist_state="session", width=220,
                     format_func=lambda name: info(name).title, label_visibility="collapsed")  # fmt: skip
        side = buttons(BESIDE, SIDES, "Beside it", opening="original" if EDITS.value else "checkpoint", says=False)
        other = _other(side, scene)
    if CHECKPOINT.value in uploads():
        st.info("A checkpoint that you opened is seen by this tab alone, so it cannot be shown in a frame.")
        return
    if other is None:
        return
    name, texts = other
    model = display_name(scene.subject.file) + (" (edited)" if EDITS.value else "")
    here = scene.translation.source if side == "sentence" else model
    components.frames([(here, _address(_texts())), (name, _address(texts))], key="frames")
    template.say("Each side is a page of its own: what you choose in one does not change the other.")


def _other(side: str, scene: Scene) -> tuple[str, dict[str, str]] | None:
    """What the second frame shows: its name, and what is chosen in it. None: nothing yet, and the page says why."""
    if side == "sentence":
        BESIDE_SENTENCE.open()
        st.text_input("Second sentence", key=BESIDE_SENTENCE.key, persist_state="session", width=360,
                      label_visibility="collapsed", placeholder="Type a second sentence")  # fmt: skip
        text = BESIDE_SENTENCE.value.strip()
        return (text, _texts("sentence") | {SENTENCE.key: text}) if text else None
    if side == "checkpoint":
        files = {name: file for name, file in checkpoints.checkpoints().items() if name != scene.subject.file.name}
        if not files:
            st.text("There is no other checkpoint.")
            return None
        BESIDE_CHECKPOINT.open(next(iter(files)), files)
        st.selectbox("The other checkpoint", list(files), key=BESIDE_CHECKPOINT.key, persist_state="session", width=260,
                     format_func=lambda name: display_name(files[name]), label_visibility="collapsed")  # fmt: skip
        name = BESIDE_CHECKPOINT.value
        return display_name(files[name]), _texts("checkpoint") | {CHECKPOINT.key: name}
    if not EDITS.value:
        st.text("Nothing is edited yet. The page What if has the edits.")
        return None
    texts = _texts()
    del texts[EDITS.key]
    return "Original model", texts


def _texts(event: Event | None = None) -> dict[str, str]:
    """What is chosen on the page that is shown, as texts of an address, less what the event resets."""
    texts = link_texts(BESIDE_PAGE.value) | {SENTENCE.key: SENTENCE.value, FRAMED.key: FRAMED.write(True)}
    for choice in CHOICES:
        if event in choice.reset_by:
            texts.pop(choice.key, None)
    return texts


def _address(texts: dict[str, str]) -> str:
    page = BESIDE_PAGE.value
    return f"./{'' if page == FIRST else page}?{urlencode(texts)}"
