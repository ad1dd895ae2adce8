"""One line beside the translation with the most important reason to doubt it: a sign that the model guesses, a
translation that the checkpoint of the other direction prefers, or a finding of the doctor. Without any of these there
is no line. Its button "Why?" shows all of them.

A line quotes the sentence, so it is shown as text, never as markdown.
"""

from collections.abc import Callable

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app.compute import doctor_findings
from app.compute.guess_signs import Guess, guesses
from app.languages import _
from app.library.catalogue import entry
from app.stage.doctor_line import finding_part
from app.stage.finding_texts import in_words
from app.stage.preferred_line import TITLE, preferred_here, preferred_part, show_it
from app.stage.scene import Scene
from app.state.events import open_checkpoint


def guess_line(scene: Scene) -> Callable[[], None]:
    """Draws the line, if there is a sign: the first sign, what to do about it, and the others on demand.

    Returns a function that adds what takes longer. It is called after the picture has been sent.
    """
    signs = guesses(scene.subject, scene.translation, scene.hypothesis)
    place = st.container(key="beside_translation", width="content")
    drawn = _line(place, signs[0].title, signs, lambda: _remedy(signs[0])) if signs else None

    def add_findings() -> None:
        behind = drawn
        is_readable = not any(sign.is_other_language for sign in signs)
        if is_readable and (found := preferred_here(scene)):
            behind = behind or _line(place, _(TITLE), (), lambda: show_it(found))
            with behind:
                preferred_part(scene, found, with_button=drawn is not None)
        findings = doctor_findings.findings(scene.subject, scene.translation, scene.hypothesis)
        if findings:
            with behind or _line(place, in_words(findings[0].title), (), lambda: None):
                for number, finding in enumerate(findings):
                    finding_part(finding, number, bool(scene.subject.edits))

    return add_findings


def _line(
    place: DeltaGenerator, title: str, signs: tuple[Guess, ...], draw_remedy: Callable[[], None]
) -> DeltaGenerator:
    """Draws the line, with what can be done about it. Returns the popover that its button opens."""
    with place, st.container(
        key="guess_line", horizontal=True, vertical_alignment="center", gap="small", width="content"
    ):  # fmt: skip
        st.text(title, width="content")
        draw_remedy()
        behind = st.popover(_("Why?"), type="tertiary", key="guess_why", width="content")
    with behind:
        for number, sign in enumerate(signs):
            with st.container(key=f"text_guess_{number}", gap="xxsmall"):
                st.text(f"{sign.title}. {sign.says}")
    return behind


def _remedy(sign: Guess) -> None:
    """Draws a button that opens the checkpoint for the language of the sentence, if there is one."""
    if sign.reader:
        task = entry(sign.reader).task
        label = _("Open {source} → {target}", source=task.source, target=task.target)
        st.button(label, key="guess_remedy", on_click=open_checkpoint, args=(sign.reader.name,))
