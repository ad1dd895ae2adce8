"""The sentence box: the text that is translated, examples, and how much of the limit is used."""

from collections.abc import Callable

import streamlit as st

from app import components
from app.library.tasks import Task
from app.state.choices import EXAMPLE, SENTENCE, happened, take_example, take_sentence

_LAST = "sentence_translated_last"  # in the session
_TAKEN = "examples_taken"  # how many; another popover is drawn after each, which is closed


def sentence_box(task: Task) -> str:
    """Draws the box. Returns the text; at first, an example of the checkpoint."""
    example = _first_example(task)
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


def _first_example(task: Task) -> str:
    examples = task.examples
    return examples[EXAMPLE.value if EXAMPLE.value < len(examples) else 0] if examples else ""


def examples(task: Task) -> None:
    """A list of sentences to begin with."""
    with st.popover("Examples", type="tertiary", key=f"examples_{st.session_state.get(_TAKEN, 0)}"):
        for number, example in enumerate(task.examples):
            st.button(example, key=f"example_{number}", on_click=_take, args=(number,), width="stretch")
        if task.note:
            st.caption(task.note)


def _take(number: int) -> None:
    st.session_state[_TAKEN] = st.session_state.get(_TAKEN, 0) + 1
    take_example(number)


@st.fragment
def meter(count: Callable[[str], tuple[int, int, int]]) -> None:
    """How much of the limit is used, at the end of the box, while typing: only this is drawn again.

    Args:
        count: of a text, the tokens of its longest sentence, how many sentences it has, and the limit.
    """
    draft = getattr(st.session_state.get("meter"), "draft", None)
    used, sentences, most = count(draft if isinstance(draft, str) else SENTENCE.value)
    unit = "tokens" if sentences < 2 else f"tokens in the longest of {sentences} sentences"
    components.meter(used, most, unit, watches="Sentence", key="meter")


def say_why_not(reason: str, instead: str) -> None:
    """Why the text in the box is not translated, what to do, and which sentence is shown meanwhile."""
    with st.container(key="said_no_scene"):
        st.text(f"{reason} Still shown: “{instead}”" if instead else reason)


def translated(text: str) -> None:
    """Notes that this text was translated."""
    st.session_state[_LAST] = text


def translated_before(task: Task) -> list[str]:
    """What can be shown while the box has nothing to translate: the sentence before; at first, an example."""
    return [text for text in (st.session_state.get(_LAST, ""), _first_example(task)) if text]
