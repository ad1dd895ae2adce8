"""The two sides of a comparison: the line that chooses them, and what they are."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from app.compute.subject import Subject
from app.library import checkpoints
from app.library.catalogue import Entry, entry
from app.library.checkpoints import CheckpointFile
from app.library.snapshots import place_of, snapshots
from app.stage.checkpoint_choice import display_name, uploads
from app.stage.scene import NoScene, Scene, Selection, scene_of
from app.state.choices import COMPARED_CHECKPOINT, COMPARED_SEARCH, COMPARED_SENTENCE, SIDE
from app.views.shared.buttons import buttons
from transformer.errors import HeadlightError

SIDES = {
    "sentence": "Sentence",
    "checkpoint": "Checkpoint",
    "search": "Search",
    "edits": "Edits",
    "torch": "torch.nn",
}
SEARCHES: Mapping[str, tuple[str, dict[str, Any]]] = {
    "greedy": ("Greedy", {"method": "greedy"}),
    "beam2": ("Beam 2", {"method": "beam", "beam": 2}),
    "beam8": ("Beam 8", {"method": "beam", "beam": 8}),
    "unpenalised": ("Beam 4, no length penalty", {"method": "beam", "beam": 4, "length_penalty": "none"}),
}


@dataclass(frozen=True)
class Sides:
    """What is compared with what.

    Attributes:
        names: of the other side, which is drawn first, and of the visitor's own.
        other: the scene of the other side; None: torch.nn translates it.
        mine: the scene of the visitor's side.
    """

    names: tuple[str, str]
    other: Scene | None
    mine: Scene

    @property
    def language(self) -> str:
        """The code of the language of both translations, or ""."""
        code = self.mine.task.target_code
        return code if self.other is None or self.other.task.target_code == code else ""


def chosen_sides(scene: Scene) -> Sides:
    """Draws the line and returns the two sides.

    Raises:
        NoScene: there is nothing to compare with; the message says why.
    """
    with st.container(key="compared_with", horizontal=True, vertical_alignment="center"):
        return _sides(scene)


def _sides(scene: Scene) -> Sides:
    opening = "edits" if scene.subject.edits else "search"
    side = buttons(SIDE, SIDES, "What differs", opening=opening, says=False)
    subject, text, settings = scene.subject, scene.translation.source, replace(scene.translation.settings, n_best=1)
    if side == "sentence":
        COMPARED_SENTENCE.open()
        hint = "Type a second sentence, such as yours with another word"
        st.text_input("Second sentence", key=COMPARED_SENTENCE.key, persist_state="session",
                      label_visibility="collapsed", placeholder=hint)  # fmt: skip
        text, names = COMPARED_SENTENCE.value, ("Second sentence", "Your sentence")
        if not text.strip():
            raise NoScene("Type a second sentence to compare with.")
    elif side == "checkpoint":
        subject = _other_model(subject.file)
        names = subject.file.name, "Your checkpoint"
    elif side == "search":
        searches = {key: label for key, (label, _) in SEARCHES.items()}
        key = buttons(COMPARED_SEARCH, searches, "The other search", says=False)
        name, changed = SEARCHES[key]
        names, settings = (name, "Your search"), replace(settings, **changed)
    elif side == "torch":
        if subject.edits:
            raise NoScene(
                "torch.nn.Transformer cannot express edits. Take them back in the line above to compare.",
                "info",
            )
        greedy = scene_of(subject, text, replace(settings, method="greedy"), Selection())
        return Sides(("torch.nn", "Ours"), None, greedy)
    else:
        subject, names = subject.original, ("Original model", "Edited model")
        if not scene.subject.edits:
            raise NoScene("Nothing is edited yet. The page What if has the edits.")
    return Sides(names, scene_of(subject, text, settings, Selection()), scene)


def other_files(mine: CheckpointFile) -> dict[str, CheckpointFile]:
    """What the open checkpoint can be compared with, by name; best first. If it is a snapshot, others of its run too.

    The best is the one of the same languages and, as far as the headers tell, the same vocabulary.
    """
    place = place_of(mine.name)
    of_run = {file.name: file for file in reversed(snapshots(place[0]).values())} if place else {}  # the last one first
    files = of_run | checkpoints.checkpoints() | uploads()
    files.pop(mine.name, None)

    def unlike(file: CheckpointFile) -> tuple[bool, ...]:
        one, other = entry(file), entry(mine)
        facts = [(*each.languages, each.is_toy, *_sizes(each)) for each in (one, other)]
        return file.name not in of_run, *(a != b for a, b in zip(*facts, strict=True))

    return {file.name: file for file in sorted(files.values(), key=unlike)}


def _sizes(known: Entry) -> tuple[int, int, int]:
    config = known.header.config if known.header else None
    return (config.vocab_size, config.heads, config.decoder_layers) if config else (0, 0, 0)


def _other_model(mine: CheckpointFile) -> Subject:
    """The model that is chosen for the other side."""
    files = other_files(mine)
    if not files:
        raise NoScene(
            "There is only one checkpoint. Put another .safetensors file into its folder, or open one in the menu.",
            "info",
        )
    COMPARED_CHECKPOINT.open(next(iter(files)), files)
    st.selectbox("The other checkpoint", list(files), key=COMPARED_CHECKPOINT.key, persist_state="session",
                 format_func=lambda name: display_name(files[name]) if name in files else name,
                 label_visibility="collapsed")  # fmt: skip
    file = files[COMPARED_CHECKPOINT.value]
    try:
        checkpoints.load(file)
    except (HeadlightError, OSError) as error:
        raise NoScene(f"This checkpoint cannot be opened. {str(error).replace(file.path, file.name)}") from error
    return Subject(file)
