"""When the model guesses: one line beside the translation, or none. Behind it are all signs and the doctor's findings.

A line quotes the sentence, so it is shown as text, never as markdown.
"""

import streamlit as st

from app.compute import cached_results
from app.compute.guesses import Guess, guesses
from app.library.catalogue import entry
from app.stage.doctor_line import finding_part
from app.stage.scene import Scene
from app.state.choices import open_checkpoint, take_sentence


def guess_line(scene: Scene) -> None:
    """Draws the line, if there is something to say: the first sign, what to do about it, and the others on demand."""
    if scene.is_given:
        return
    signs = guesses(scene.subject, scene.translation, scene.hypothesis)
    findings = cached_results.findings(scene.subject, scene.translation, scene.hypothesis)
    if not signs and not findings:
        return
    with st.container(key="guess_line", horizontal=True, vertical_alignment="center", gap="small", width="content"):
        st.text(signs[0].title if signs else findings[0].title, width="content")
        if signs:
            _remedy(scene, signs[0], "guess_remedy")
        with st.popover("Why?", type="tertiary", key="guess_why", width="content"):
            for number, sign in enumerate(signs):
                with st.container(key=f"said_guess_{number}", gap="xxsmall"):
                    st.text(f"{sign.title}. {sign.says}")
                    if number:
                        _remedy(scene, sign, f"guess_remedy_{number}")
            for number, finding in enumerate(findings):
                finding_part(finding, number)


def _remedy(scene: Scene, sign: Guess, key: str) -> None:
    """A button that does what helps: another way of writing the sentence, or the checkpoint that reads it."""
    if sign.reader:
        task = entry(sign.reader).task
        st.button(
            f"Open {task.source} → {task.target}",
            key=key,
            on_click=_open,
            args=(sign.reader.name, scene.translation.source),
        )
    elif sign.sentence:
        st.button("Write it in lower case", key=key, on_click=take_sentence, args=(sign.sentence,))


def _open(name: str, sentence: str) -> None:
    open_checkpoint(name)
    take_sentence(sentence)
