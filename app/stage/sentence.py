"""The sentence box: the text that is translated, examples, and how much of the limit is used."""

import streamlit as st

from app import components
from app.compute.subject import Subject
from app.library import checkpoints
from app.stage.scene import NoScene
from app.state.choices import EXAMPLE, SENTENCE, happened, take_example, take_sentence

_TAKEN = "examples_taken"  # how many; another popover is drawn after each, which is closed


def sentence_box(subject: Subject) -> str:
    """Draws the box. Returns the text; at first, an example of the checkpoint."""
    example = _first_example(subject)
    SENTENCE.open(example)
    text = st.text_input(
        "Sentence",
        key=SENTENCE.key,
        persist_state="session",
        on_change=happened,
        args=("sentence",),
        placeholder="Type a sentence and press Enter",
        autocomplete="off",
        label_visibility="collapsed",
    )
    is_first = text == example and not EXAMPLE.is_chosen
    components.tab_memory(text or "", fresh=is_first, key="tab_memory", on_kept=take_sentence)
    return text or ""


def _first_example(subject: Subject) -> str:
    examples = subject.task.examples
    return examples[EXAMPLE.value if EXAMPLE.value < len(examples) else 0] if examples else ""


def examples(subject: Subject) -> None:
    """A list of sentences to begin with."""
    with st.popover("Examples", type="tertiary", key=f"examples_{st.session_state.get(_TAKEN, 0)}"):
        for number, example in enumerate(subject.task.examples):
            st.button(example, key=f"example_{number}", on_click=_take, args=(number,), width="stretch")
        if subject.task.note:
            st.caption(subject.task.note)


def _take(number: int) -> None:
    st.session_state[_TAKEN] = st.session_state.get(_TAKEN, 0) + 1
    take_example(number)


@st.fragment
def meter(subject: Subject) -> None:
    """How much of the limit is used, at the end of the box, while typing: only this is drawn again."""
    draft = getattr(st.session_state.get("meter"), "draft", None)
    text = draft if isinstance(draft, str) else SENTENCE.value
    used, sentences = checkpoints.pieces_needed(subject.file, text)
    unit = "tokens" if sentences < 2 else f"tokens in the longest of {sentences} sentences"
    components.meter(used, checkpoints.most_pieces(subject.translator), unit, watches="Sentence", key="meter")


def say(reason: NoScene) -> None:
    """Why nothing is shown. An error may quote the text, so it is shown as text."""
    if reason.kind == "error":
        with st.container(border=True):
            st.text(str(reason))
    else:
        (st.info if reason.kind == "info" else st.warning)(str(reason))
