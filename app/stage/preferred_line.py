"""The translation that the checkpoint of the other direction prefers, and how to see it; see guess_line.py."""

import streamlit as st

from app.compute.reverse_choice import Preferred, preferred
from app.compute.subject import Subject
from app.figures.shares import Share
from app.languages import _, gettext_noop
from app.library import checkpoints
from app.library.catalogue import reverse_model
from app.stage.checkpoint_choice import uploads
from app.stage.scene import Scene
from app.state.given_translation import show_instead
from transformer.errors import HeadlightError

TITLE = gettext_noop("The model of the opposite direction prefers another translation")


def preferred_here(scene: Scene) -> Preferred | None:
    """What the checkpoint of the other direction prefers to the best translation. None: it prefers nothing else, there
    is no such checkpoint, the model is edited, or another translation is shown."""
    reverse = reverse_model(scene.subject.file, (checkpoints.checkpoints() | uploads()).values())
    if reverse is None or scene.subject.edits or scene.shown:
        return None
    try:
        return preferred(scene.subject, Subject(reverse), scene.translation.sentence, scene.translation.settings)
    except (HeadlightError, OSError):
        return None  # its file cannot be read: the page Models says so


def show_it(found: Preferred) -> None:
    """Draws a button that shows this translation on all pages."""
    hypothesis = found.hypothesis
    st.button(
        _("Show it"), key="show_preferred", on_click=show_instead, args=(hypothesis.text, hypothesis.ids_without_end)
    )


def preferred_part(scene: Scene, found: Preferred, *, with_button: bool) -> None:
    """Draws what the other checkpoint prefers and why. It quotes the sentence, so it is shown as text."""
    task, kept = scene.task, scene.translation.settings.beam
    with st.container(key="text_preferred", gap="xxsmall"):
        st.text(
            _(
                "The search kept {kept} translations. This is number {number}: “{text}” If the model "
                "{target} → {source} reads it, each token of your sentence has on average a probability of "
                "{own:.0%}; with the translation that is shown, {first:.0%} (geometric means).",
                kept=kept,
                number=found.rank + 1,
                text=found.hypothesis.text,
                target=task.target,
                source=task.source,
                own=Share(found.own),
                first=Share(found.first),
            )
        )
        st.caption(
            _(
                "A translation that leaves a word out may be more probable than a complete one, but the model of the "
                "opposite direction cannot predict that word from it. To choose by both directions is called noisy "
                "channel reranking (Yee et al. 2019)."
            )
        )
        if with_button:
            show_it(found)
