"""The two sides of a comparison, and the line of controls that chooses them."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from app.compute import cached_results
from app.compute.subject import Subject
from app.languages import _, gettext_noop
from app.library import checkpoints
from app.library.checkpoints import CheckpointFile
from app.library.names import display_name, short_name
from app.stage.scene import Scene, Selection, scene_of
from app.stage.text_check import NoScene
from app.state.choices import COMPARED_CHECKPOINT, COMPARED_SEARCH, COMPARED_SENTENCE, LONGEST_SECOND, SIDE
from app.views.shared.another_word import most_striking, with_as_many_tokens
from app.views.shared.buttons import buttons
from app.views.shared.other_checkpoints import has_its_task, other_checkpoints
from transformer.errors import HeadlightError

SIDES = {
    "sentence": gettext_noop("Sentence"),
    "checkpoint": gettext_noop("Checkpoint"),
    "search": gettext_noop("Search"),
    "edits": gettext_noop("Edits"),
    "torch": "torch.nn",
}
SEARCHES: Mapping[str, tuple[str, dict[str, Any]]] = {
    "greedy": (gettext_noop("Greedy"), {"method": "greedy"}),
    "beam2": (gettext_noop("Beam 2"), {"method": "beam", "beam": 2}),
    "beam8": (gettext_noop("Beam 8"), {"method": "beam", "beam": 8}),
    "unpenalised": (
        gettext_noop("Beam 4, no length penalty"),
        {"method": "beam", "beam": 4, "length_penalty": "none"},
    ),
}


@dataclass(frozen=True)
class Sides:
    """What is compared with what.

    Attributes:
        names: of the other side, which is drawn first, and of the visitor's own.
        other: the scene of the other side. None: the other side is torch.nn, which has no scene.
        mine: the scene of the visitor's side.
    """

    names: tuple[str, str]
    other: Scene | None
    mine: Scene

    @property
    def language(self) -> str:
        """The code of the language of both translations; "" if they are in two languages."""
        code = self.mine.task.target_code
        return code if self.other is None or self.other.task.target_code == code else ""


def chosen_sides(scene: Scene) -> Sides:
    """Draws the line of controls and returns the two sides.

    Raises:
        NoScene: there is nothing to compare with; the message says why.
    """
    with st.container(key="compared_with", horizontal=True, vertical_alignment="center"):
        return _sides(scene)


def _sides(scene: Scene) -> Sides:
    names = {side: _(name) for side, name in SIDES.items()}
    side = buttons(SIDE, names, _("What differs"), opening=_opening(scene), says=False)
    subject, text, settings = scene.subject, scene.translation.sentence, replace(scene.translation.settings, n_best=1)
    if side == "sentence":
        COMPARED_SENTENCE.open(most_striking(scene)[:LONGEST_SECOND])
        hint = _("Type a second sentence, such as yours with another word")
        st.text_input(_("Second sentence"), key=COMPARED_SENTENCE.key, persist_state="session",
                      label_visibility="collapsed", placeholder=hint, max_chars=LONGEST_SECOND,
                      autocomplete="off")  # fmt: skip
        text, both = COMPARED_SENTENCE.value, (_("Second sentence"), _("Your sentence"))
        if not text.strip():
            raise NoScene(_("Type a second sentence to compare with."))
    elif side == "checkpoint":
        subject = _other_model(subject.file)
        both = short_name(subject.file), _("Your checkpoint")
    elif side == "search":
        searches = {key: _(label) for key, (label, changed) in SEARCHES.items()}
        opening = search_that_differs(scene) or next(iter(searches))
        key = buttons(COMPARED_SEARCH, searches, _("The other search"), opening=opening, says=False)
        both, settings = (searches[key], _("Your search")), replace(settings, **SEARCHES[key][1])
    elif side == "torch":
        if subject.edits:
            raise NoScene(_("torch.nn.Transformer cannot express edits. Undo them in the line above to compare."))
        greedy = scene_of(subject, text, replace(settings, method="greedy"), Selection())
        return Sides((_("torch.nn, greedy"), _("Ours, greedy")), None, greedy)
    else:
        subject, both = subject.original, (_("Original model"), _("Edited model"))
        if not scene.subject.edits:
            raise NoScene(_("Nothing is edited yet. The page What if has the edits."))
    return Sides(both, scene_of(subject, text, settings, Selection()), scene)


def search_that_differs(scene: Scene) -> str:
    """The first search that finds another translation; "" if none does."""
    found, settings = scene.translation, replace(scene.translation.settings, n_best=1)
    for name, search in SEARCHES.items():
        try:
            other = cached_results.translate_one(scene.subject, found.source, replace(settings, **search[1]))
        except HeadlightError:  # this search is too long for the app
            continue
        if other.hypotheses[0].tokens != scene.hypothesis.tokens:
            return name
    return ""


def _opening(scene: Scene) -> str:
    """What differs when the page opens: the edits, if there are any; else a word of the sentence, if another word
    has as many tokens; else the checkpoint, if another one has the same task; else the search."""
    if scene.subject.edits:
        return "edits"
    if with_as_many_tokens(scene):
        return "sentence"
    own = scene.subject.file
    return "checkpoint" if any(has_its_task(file, own) for file in other_checkpoints(own).values()) else "search"


def _other_model(mine: CheckpointFile) -> Subject:
    """The model that is chosen for the other side."""
    files = other_checkpoints(mine)
    if not files:
        raise NoScene(
            _("There is only one checkpoint. Put another .safetensors file into its folder, or open one in the menu.")
        )
    COMPARED_CHECKPOINT.open(next(iter(files)), files)
    st.selectbox(_("The other checkpoint"), list(files), key=COMPARED_CHECKPOINT.key, persist_state="session",
                 format_func=lambda name: display_name(files[name]) if name in files else name,
                 label_visibility="collapsed")  # fmt: skip
    file = files[COMPARED_CHECKPOINT.value]
    try:
        checkpoints.load(file)
    except (HeadlightError, OSError) as error:
        reason = str(error).replace(file.path, file.name)
        raise NoScene(_("This checkpoint cannot be opened. {reason}", reason=reason)) from error
    return Subject(file)
