"""The sentence box: the text that is translated, examples, how much of the limit is used, and the link to this view."""

import streamlit as st

from app import components
from app.compute.subject import Subject
from app.library import checkpoints
from app.server.visitor import address_for_others
from app.stage.scene import NoScene, Scene
from app.state.address import private_texts
from app.state.choices import EXAMPLE, SENTENCE, SHOWN_SENTENCE, happened, show_sentence, take_example, take_sentence


def sentence_box(subject: Subject) -> str:
    """Draws the box and what belongs to it. Returns the text; at first, an example of the checkpoint."""
    examples = subject.task.examples
    example = examples[EXAMPLE.value if EXAMPLE.value < len(examples) else 0] if examples else ""
    SENTENCE.open(example)
    text = st.text_input(
        "Sentence",
        key=SENTENCE.key,
        persist_state="session",
        on_change=happened,
        args=("sentence",),
        placeholder="Type a sentence and press Enter",
        autocomplete="off",
    )
    with st.container(key="bar", horizontal=True, vertical_alignment="center", gap="medium"):
        _meter(subject)
        if examples:
            _examples(subject)
        texts = private_texts() | {SENTENCE.key: text or ""}
        is_first = text == example and not EXAMPLE.is_chosen
        components.copy_link(
            texts, SENTENCE.key, fresh=is_first, host=address_for_others(), key="copy_link", on_kept=take_sentence
        )
    return text or ""


def _examples(subject: Subject) -> None:
    with st.popover("Examples", type="tertiary", key=f"examples_{st.session_state.get(_TAKEN, 0)}"):
        for number, example in enumerate(subject.task.examples):
            st.button(example, key=f"example_{number}", on_click=_take, args=(number,), width="stretch")
        if subject.task.note:
            st.caption(subject.task.note)


_TAKEN = "examples_taken"  # how many; another popover stands there after each, which is closed


def _take(number: int) -> None:
    st.session_state[_TAKEN] = st.session_state.get(_TAKEN, 0) + 1
    take_example(number)


@st.fragment
def _meter(subject: Subject) -> None:
    """How much of the limit is used, while typing: only this line is drawn again."""
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


def list_sentences(scene: Scene) -> None:
    """Lists the sentences if there are several. One of them is shown; a click shows another."""
    if len(scene.sentences) == 1:
        return
    st.header(f"{len(scene.sentences)} sentences", anchor=False)
    st.caption("All are translated. The pictures below belong to the marked one; click another to show it.")
    components.choice_list(
        [{"text": each.text or "(nothing)", "second": each.source} for each in scene.sentences],
        SHOWN_SENTENCE.value if SHOWN_SENTENCE.value < len(scene.sentences) else 0,
        "Sentence that is shown",
        key="sentences",
        on_choose=show_sentence,
    )
