"""The sentence box: the text that is translated, examples, and how much of the limit is used."""

from collections.abc import Callable

import streamlit as st

from app import components
from app.languages import _
from app.library.tasks import Task
from app.state import late_reports
from app.state.choices import EXAMPLE, SENTENCE
from app.state.events import text_changed

_LAST = "sentence_translated_last"  # in the session
# In the session: how many examples were chosen. The key of the popover has it, so each choice closes the popover
_TIMES_TAKEN = "examples_taken"


def sentence_box(task: Task) -> str:
    """Draws the box. Returns the text; at first, an example of the checkpoint."""
    SENTENCE.open(_first_example(task))
    text = st.text_input(
        _("Sentence"),
        key=SENTENCE.key,
        persist_state="session",
        on_change=_typed,
        placeholder=_("Type a sentence and press Enter"),
        autocomplete="off",
        label_visibility="collapsed",
    )
    fresh = not (SENTENCE.is_chosen or EXAMPLE.is_chosen)
    # on_kept does not reset the choices in the address: they were made for the sentence that the tab has stored
    components.tab_memory(text or "", fresh=fresh, key="tab_memory", on_kept=_kept)
    return text or ""


def _kept(text: str) -> None:
    """Called if the tab has stored this sentence, but the box shows an example."""
    SENTENCE.choose(text)
    late_reports.expect(SENTENCE)


def _typed() -> None:
    """The visitor typed what is in the box, even if the text equals an example."""
    if late_reports.restored(SENTENCE):
        return
    text_changed()
    SENTENCE.mark_as_chosen()


def _first_example(task: Task) -> str:
    examples = task.examples
    return examples[EXAMPLE.value if EXAMPLE.value < len(examples) else 0] if examples else ""


def examples(task: Task) -> None:
    """A list of sentences to begin with."""
    with st.popover(_("Examples"), type="tertiary", key=f"examples_{st.session_state.get(_TIMES_TAKEN, 0)}"):
        for number, example in enumerate(task.examples):
            st.button(example, key=f"example_{number}", on_click=_take, args=(number,), width="stretch")
        if task.note:
            st.caption(task.note)


def _take(number: int) -> None:
    """Puts an example of the checkpoint, from 0, into the box."""
    st.session_state[_TIMES_TAKEN] = st.session_state.get(_TIMES_TAKEN, 0) + 1
    text_changed()
    SENTENCE.forget()
    EXAMPLE.choose(number)


@st.fragment
def meter(count: Callable[[str], tuple[int, int, int]]) -> None:
    """Draws at the end of the box how much of the limit is used. While the visitor types, only this is drawn again.

    Args:
        count: text -> the tokens of its longest sentence, how many sentences it has, and the limit.
    """
    draft = getattr(st.session_state.get("meter"), "draft", None)
    used, sentences, most = count(draft if isinstance(draft, str) else SENTENCE.value)
    if sentences < 2:
        text = _("{used:,} of {most:,} tokens", used=used, most=most)
    else:
        text = _(
            "{used:,} of {most:,} tokens in the longest of {sentences} sentences",
            used=used,
            most=most,
            sentences=sentences,
        )
    components.meter(used, most, text, watches=_("Sentence"), key="meter")


def say_why_not(reason: str, instead: str) -> None:
    """Why the text in the box is not translated, what to do, and which sentence is shown meanwhile."""
    with st.container(key="text_no_scene"):
        st.text(_("{reason} Still shown: “{sentence}”", reason=reason, sentence=instead) if instead else reason)


def translated(text: str) -> None:
    """Notes that this text was translated."""
    st.session_state[_LAST] = text


def translated_before(task: Task) -> list[str]:
    """What can be shown while the box has nothing to translate: the sentence translated last, then an example."""
    return [text for text in (st.session_state.get(_LAST, ""), _first_example(task)) if text]
