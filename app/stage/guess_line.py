"""When the model guesses: one line beside the translation, or none. Behind it are all signs and the doctor's findings.

A line quotes the sentence, so it is shown as text, never as markdown.
"""

import streamlit as st

from app.compute import doctor_findings
from app.compute.guess_signs import Guess, guesses
from app.library.catalogue import entry
from app.stage.doctor_line import finding_part
from app.stage.scene import Scene
from app.state.choices import open_checkpoint


def guess_line(scene: Scene) -> None:
    """Draws the line, if there is something to say: the first sign, what to do about it, and the others on demand."""
    if scene.is_given:
        return
    signs = guesses(scene.subject, scene.translation, scene.hypothesis)
    findings = doctor_findings.findings(scene.subject, scene.translation, scene.hypothesis)
    if not signs and not findings:
        return
    with st.container(key="guess_line", horizontal=True, vertical_alignment="center", gap="small", width="content"):
        st.text(signs[0].title if signs else findings[0].title, width="content")
        if signs:
            _remedy(signs[0], "guess_remedy")
        with st.popover("Why?", type="tertiary", key="guess_why", width="content"):
            for number, sign in enumerate(signs):
                with st.container(key=f"said_guess_{number}", gap="xxsmall"):
                    st.text(f"{sign.title}. {sign.says}")
                    if number:
                        _remedy(sign, f"guess_remedy_{number}")
            for number, finding in enumerate(findings):
                finding_part(finding, number)


def _remedy(sign: Guess, key: str) -> None:
    """A button that opens the checkpoint that reads the sentence, if another one does."""
    if sign.reader:
        task = entry(sign.reader).task
        label = f"Open {task.source} → {task.target}"
        st.button(label, key=key, on_click=open_checkpoint, args=(sign.reader.name,))
