"""What is chosen now. One state for all pages, mirrored in the address where that gives nothing private away.

Widgets bound to the address (`bind="query-params"`) are the state: checkpoint, decoding settings. What opens
differently from sentence to sentence (kind, layer and head, the chosen tokens) stands in the session, and always in the
address too. The sentence stays in the session and in the browser's tab, and enters an address only in a link that the
user copies; such a link is read once and the sentence taken out of the address again.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

import streamlit as st

from app.models import MOST_CHARACTERS, CheckpointFile
from app.tasks import EXAMPLES, Task
from transformer.decoding.translation import Translation
from transformer.decoding.translator import Translator

Choice = TypeVar("Choice")
Name = TypeVar("Name", bound=str)

TEXT = "text"  # what is translated
SENTENCE = "sentence"  # the box for it, and what a link calls it
SECOND: Literal["second_sentence"] = "second_sentence"  # the other sentence of a batch: box, and name in a link
LONGEST_SECOND = 400  # characters
FRESH = "fresh"  # whether the text is the example that a visitor is met with
CHECKPOINT = "checkpoint"
KIND = "kind"
LAYER = "layer"
HEAD = "head"
STEP: Literal["t"] = "t"  # the row of the decoder: it reads piece t and predicts the next
SOURCE_TOKEN: Literal["s"] = "s"  # the position in the source
OTHER_TOKEN: Literal["k"] = "k"  # in self-attention: the position that is looked at
SHOWN_SENTENCE: Literal["nth"] = "nth"  # which of several sentences the pictures show
SHOWN_HYPOTHESIS: Literal["alternative"] = "alternative"  # which of its translations
GIVEN = "given"  # a translation of the visitor's own, shown beside the model's
GIVEN_FOR = "given_for"  # the checkpoint and the sentence that it is a translation of


@dataclass(frozen=True)
class Opened:
    """The checkpoint that is chosen, loaded."""

    file: CheckpointFile
    translator: Translator
    task: Task


def sentence_from_link() -> None:
    """Takes the sentences of a copied link into the session, once, and out of the address."""
    if SENTENCE in st.query_params:
        take_sentence(st.query_params[SENTENCE][: MOST_CHARACTERS + 1])
        del st.query_params[SENTENCE]
    if SECOND in st.query_params:
        st.session_state[SECOND] = st.query_params[SECOND][:LONGEST_SECOND]
        del st.query_params[SECOND]


def take_sentence(text: str) -> None:
    """A sentence of the visitor's; what is chosen besides stays."""
    st.session_state[TEXT] = text
    st.session_state[FRESH] = False


def open_with_example(task: Task) -> None:
    """Takes the first example where the user has not written anything of their own for this task."""
    written = st.session_state.get(TEXT)
    ours = {example for examples in EXAMPLES.values() for example in examples}
    if written is None or (written in ours and written not in task.examples):
        st.session_state[TEXT] = task.examples[0] if task.examples else ""
        st.session_state[FRESH] = written is None


def fill_sentence_box() -> None:
    """Puts the text into its box, before that is drawn, each time.

    Trap: on the way to another page the browser forgets what was put into a box, while the session still has it; so
    the box is not where the text is kept (test_the_example_is_there_on_every_page).
    """
    st.session_state[SENTENCE] = st.session_state[TEXT]


def typed() -> None:
    """The user has pressed Enter in the sentence box."""
    take_sentence(st.session_state[SENTENCE])
    forget_choice()


def forget_head() -> None:
    """Lets the page choose layer and head anew: another checkpoint has other heads."""
    _forget(LAYER, HEAD)


def forget_choice() -> None:
    """Another text, or other settings: show the best translation of the first sentence, from its beginning."""
    st.session_state[SHOWN_SENTENCE] = 0
    st.session_state[SHOWN_HYPOTHESIS] = 0
    _forget(STEP, SOURCE_TOKEN, OTHER_TOKEN)
    forget_given()


def open_checkpoint(name: str) -> None:
    """Opens it on the sentence that stands in the box; what is chosen besides belongs to another model."""
    st.session_state[CHECKPOINT] = name
    forget_head()
    forget_choice()


def _forget(*keys: str) -> None:
    for key in keys:
        st.session_state.pop(key, None)
        st.query_params.pop(key, None)


def forget_given() -> None:
    """Another sentence: what the visitor gave as a translation is none of it.

    Trap: a text box whose key is only taken out of the session keeps its text in the browser, and sends it again with
    the next click (test_a_forced_translation_does_not_come_back_with_another_sentence).
    """
    st.session_state[GIVEN] = ""


def written_for(key: str, whose: object) -> None:
    """Empties a text box, before it is drawn, if what it was written for is no longer what is shown."""
    if st.session_state.get(f"{key}_for", whose) != whose:
        st.session_state[key] = ""
    st.session_state[f"{key}_for"] = whose


def show_given(place: int, file: CheckpointFile, source: str) -> None:
    """Shows the visitor's own translation of this sentence; it stands at this place, after the model's."""
    st.session_state[GIVEN_FOR] = (file, source)
    st.session_state[SHOWN_HYPOTHESIS] = place


def shown_hypothesis(translation: Translation) -> int:
    """Which of its alternatives is shown, from 0."""
    return shown(SHOWN_HYPOTHESIS, len(translation.hypotheses))


def show_hypothesis(index: int) -> None:
    """Chooses one of the alternatives."""
    st.session_state[SHOWN_HYPOTHESIS] = index


def linked(key: str, options: Sequence[Choice], default: Choice) -> Choice:
    """A choice kept in the session, mirrored in the address; to be called before the widget of that key is drawn.

    Trap: a widget bound to the address leaves it when its value is the default. Where the default depends on what else
    is chosen, such a link would open with another choice (test_a_link_restores_the_head_whatever_the_page_opens_with).
    """
    if st.session_state.get(key) not in options:
        text = st.query_params.get(key)
        st.session_state[key] = next((option for option in options if str(option) == text), default)
    chosen: Choice = st.session_state[key]
    if st.query_params.get(key) != str(chosen):
        st.query_params[key] = str(chosen)
    return chosen


def stack_from_old_link() -> None:
    """Takes the stack of an old link, when three pages had one of their own: now the kind of attention says it."""
    for key in ("stream_of", "positions_of", "sizes_of"):
        stack = st.query_params.pop(key, None)
        if stack in ("encoder", "decoder"):
            st.session_state[KIND] = "encoder" if stack == "encoder" else "cross"


def named(key: str, names: Mapping[Name, str], default: Name) -> Name:
    """A choice whose short key stands in the address, not the words on its button, which may change any day.

    Links from the time when the words stood there work too. To be called before the widget of that key is drawn.
    """
    if key not in st.session_state:
        text = st.query_params.get(key)
        old = next((short for short, words in names.items() if words == text), None)
        if old is not None:
            st.session_state[key] = old
    return linked(key, tuple(names), default)


def shown(key: Literal["nth", "alternative"], count: int) -> int:
    """Which of `count` is shown, from 0; in the address from 1, and only if it is not the first."""
    if key not in st.session_state:
        st.session_state[key] = _number_in_address(key, 0)
    chosen = int(st.session_state[key])
    if not 0 < chosen < count:
        st.query_params.pop(key, None)
        return 0
    if st.query_params.get(key) != str(chosen + 1):
        st.query_params[key] = str(chosen + 1)
    return chosen


def _number_in_address(key: str, default: int) -> int:
    """A number that stands in the address from 1, counted from 0."""
    linked = _small_number(key)
    return default if linked is None else linked - 1


def position(key: Literal["t", "s", "k"], count: int, default: int = 0) -> int:
    """A chosen token, from 0, in a row of `count`; kept in the session and mirrored, from 1, in the address."""
    if key not in st.session_state:
        st.session_state[key] = _number_in_address(key, default)
    chosen = min(max(int(st.session_state[key]), 0), count - 1)
    if st.query_params.get(key) != str(chosen + 1):
        st.query_params[key] = str(chosen + 1)
    return chosen


def keep_in_address() -> None:
    """Puts all that is chosen on every page into the address, and takes it from there, whatever this page uses of it.

    Trap: on the way to another page Streamlit drops what we have written into the address, and a link that is copied
    there would have lost what that page does not ask for (test_what_is_chosen_is_in_the_address_of_every_page).
    """
    for key, taken in ((KIND, st.query_params.get(KIND)), *((key, _small_number(key)) for key in (LAYER, HEAD))):
        if key not in st.session_state and taken is not None:
            st.session_state[key] = taken
        if key in st.session_state and st.query_params.get(key) != str(st.session_state[key]):
            st.query_params[key] = str(st.session_state[key])
    for key in (STEP, SOURCE_TOKEN, OTHER_TOKEN):
        taken = _small_number(key)
        if key not in st.session_state and taken:
            st.session_state[key] = taken - 1
        if key in st.session_state and st.query_params.get(key) != str(int(st.session_state[key]) + 1):
            st.query_params[key] = str(int(st.session_state[key]) + 1)


def _small_number(key: str) -> int | None:
    text = st.query_params.get(key, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 5 else None


def choose_position(key: Literal["t", "s", "k"], index: int) -> None:
    """Chooses a token, from 0."""
    st.session_state[key] = index


def forget_beyond(key: str, least: int, most: int) -> None:
    """Forgets a chosen number that another checkpoint had and this one has not, before its slider is drawn.

    Trap: a slider whose range has become smaller raises if the session still holds what is outside
    (test_a_choice_that_the_next_checkpoint_does_not_have_is_dropped).
    """
    chosen = st.session_state.get(key)
    if isinstance(chosen, int | float) and not least <= chosen <= most:
        del st.session_state[key]


def is_dark() -> bool:
    """Whether the page is shown on dark ground."""
    return st.context.theme.type == "dark"
