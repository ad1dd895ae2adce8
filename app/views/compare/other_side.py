"""What the translation is compared with: the line that chooses it, and the scene that it makes."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import streamlit as st

from app.compute.subject import Subject
from app.library import checkpoints
from app.stage.checkpoint_choice import display_name, uploads
from app.stage.scene import NoScene, Scene, Selection, scene_of
from app.state.choices import CHECKPOINT, COMPARED_CHECKPOINT, COMPARED_SEARCH, COMPARED_SENTENCE, SIDE
from app.views.shared.buttons import buttons
from transformer.errors import HeadlightError

SIDES = {"sentence": "Sentence", "checkpoint": "Checkpoint", "search": "Search", "edits": "Edits"}
SEARCHES: Mapping[str, tuple[str, dict[str, Any]]] = {
    "greedy": ("Greedy", {"method": "greedy"}),
    "beam2": ("Beam 2", {"method": "beam", "beam": 2}),
    "beam8": ("Beam 8", {"method": "beam", "beam": 8}),
    "unpenalised": ("Beam 4, no length penalty", {"method": "beam", "beam": 4, "length_penalty": "none"}),
}


def other_side(scene: Scene) -> tuple[str, Scene]:
    """Draws the line. Returns the name of the other side, and its scene.

    Raises:
        NoScene: there is nothing to compare with; the message says why.
    """
    opening = "edits" if scene.subject.edits else "search"
    side = buttons(SIDE, SIDES, "What differs", opening=opening, says=False)
    subject, text, settings = scene.subject, scene.translation.source, replace(scene.translation.settings, n_best=1)
    if side == "sentence":
        COMPARED_SENTENCE.open()
        st.text_input("Second sentence", key=COMPARED_SENTENCE.key, persist_state="session",
                      label_visibility="collapsed", placeholder="Type a second sentence")  # fmt: skip
        text, name = COMPARED_SENTENCE.value, "Second sentence"
        if not text.strip():
            raise NoScene("Type a second sentence to compare with.", "info")
    elif side == "checkpoint":
        subject = _other_model()
        name = display_name(subject.file)
    elif side == "search":
        names = {key: label for key, (label, _) in SEARCHES.items()}
        key = buttons(COMPARED_SEARCH, names, "The other search", says=False)
        name, changed = SEARCHES[key]
        settings = replace(settings, **changed)
    else:
        subject, name = subject.original, "Original model"
        if not scene.subject.edits:
            raise NoScene("Nothing is edited yet. The page What if has the edits.", "info")
    return name, scene_of(subject, text, settings, Selection())


def _other_model() -> Subject:
    """The model that is chosen for the other side."""
    files = checkpoints.checkpoints() | uploads()
    COMPARED_CHECKPOINT.open(next((name for name in files if name != CHECKPOINT.value), next(iter(files))), files)
    st.selectbox("The other checkpoint", list(files), key=COMPARED_CHECKPOINT.key, persist_state="session",
                 format_func=lambda name: display_name(files[name]) if name in files else name,
                 label_visibility="collapsed")  # fmt: skip
    file = files[COMPARED_CHECKPOINT.value]
    try:
        checkpoints.load(file)
    except (HeadlightError, OSError) as error:
        raise NoScene(f"This checkpoint cannot be opened. {str(error).replace(file.path, file.name)}") from error
    return Subject(file)
