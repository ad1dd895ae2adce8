"""What is chosen now. One state for all pages, mirrored in the address where that gives nothing private away.

Widgets bound to the address (`bind="query-params"`) are the state: checkpoint, decoding settings. What opens
differently from sentence to sentence (kind, layer and head, the chosen tokens) stands in the session, and always in the
address too. The sentence stays in the session and in the browser's tab, and enters an address only in a link that the
user copies; such a link is read once and the sentence taken out of the address again.
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal

import streamlit as st
from streamlit.errors import StreamlitAPIException

from app import components
from app.library.checkpoints import MOST_CHARACTERS, CheckpointFile
from app.library.tasks import EXAMPLES, Task
from transformer.decoding.translator import Translator

TEXT = "text"  # what is translated
DRAFT = "draft"  # what was typed and not entered
SENTENCE = "sentence"  # the box for it, and what a link calls it
SECOND: Literal["second_sentence"] = "second_sentence"  # the other sentence of a batch: box, and name in a link
LONGEST_SECOND = 400  # characters
FRESH = "fresh"  # whether the text is the example that a visitor is met with
CHECKPOINT = "checkpoint"
KIND = "kind"
LAYER = "layer"
HEAD = "head"
Place = Literal["t", "s", "k"]  # what a chosen token is kept as:
STEP: Literal["t"] = "t"  # the row of the decoder: it reads piece t and predicts the next
SOURCE_TOKEN: Literal["s"] = "s"  # the position in the source
OTHER_TOKEN: Literal["k"] = "k"  # in self-attention: the position that is looked at
SHOWN_SENTENCE: Literal["nth"] = "nth"  # which of several sentences the pictures show
SHOWN_HYPOTHESIS: Literal["alternative"] = "alternative"  # which of its translations
GIVEN = "given"  # a translation of the visitor's own, shown beside the model's
GIVEN_FOR = "given_for"  # the checkpoint and the sentence that it is a translation of; LINKED: those that are shown
GIVEN_PIECES = "given_pieces"  # its ids, where it was put together piece by piece; else it is cut as any text is
LINKED = "linked"
CARRIED_TO = "carried_to"  # the page that is open
DRAWN = "drawn"  # whether that page has been drawn to its end before
# The widgets that stand on every page and are bound to the address.
SEARCHED_WITH = ("method", "beam", "alternatives", "penalty", "alpha", "temperature", "top_k", "top_p", "draws", "seed")
SHARED = (CHECKPOINT, *SEARCHED_WITH)


@dataclass(frozen=True)
class Opened:
    """The checkpoint that is chosen, loaded."""

    file: CheckpointFile
    translator: Translator
    task: Task


def sentence_from_link() -> None:
    """Takes the sentences of a copied link into the session, once, and out of the address; and a translation of the
    first that its sender gave."""
    if SENTENCE in st.query_params:
        take_sentence(st.query_params[SENTENCE][: MOST_CHARACTERS + 1])
        del st.query_params[SENTENCE]
    if SECOND in st.query_params:
        st.session_state[SECOND] = st.query_params[SECOND][:LONGEST_SECOND]
        del st.query_params[SECOND]
    if GIVEN in st.query_params:
        st.session_state[GIVEN] = st.query_params[GIVEN][:MOST_CHARACTERS]
        st.session_state[GIVEN_FOR] = LINKED
        st.session_state[GIVEN_PIECES] = ()
        del st.query_params[GIVEN]


def given_in_link(file: CheckpointFile) -> str:
    """The visitor's own translation, if one was given to this checkpoint."""
    whose = st.session_state.get(GIVEN_FOR)
    return str(st.session_state.get(GIVEN) or "") if whose and whose[0] == file else ""


def take_sentence(text: str) -> None:
    """A sentence of the visitor's; what is chosen besides stays."""
    st.session_state[TEXT] = text
    st.session_state[FRESH] = False
    st.session_state.pop(DRAFT, None)


def watch_draft() -> None:
    """Keeps what is typed and not entered for the next page, at the end of the app's script, of which it is a part.

    Trap: a click on another page comes so soon after the one that says that the box was left that Streamlit may take
    the two for one, and then forgets what was in widgets of the page that is left; not so in those of the whole app
    (test_what_was_typed_goes_along_to_another_page).
    """
    components.draft(st.session_state.get(TEXT) or "", watches="Sentence", key="left", on_left=_keep_draft)


def _keep_draft(text: str) -> None:
    st.session_state[DRAFT] = text
    if text == st.session_state.get(TEXT):
        del st.session_state[DRAFT]


def carry(page: str) -> None:
    """On the way to another page: takes along what the shared widgets show, and puts it into its address.

    Trap: what stood in the address when the app was opened is else forgotten at the first change of page, unless
    something was chosen before (test_what_a_link_says_is_there_on_the_next_page).
    """
    if st.session_state.get(CARRIED_TO) == page:
        return
    st.session_state[CARRIED_TO] = page
    st.session_state[DRAWN] = False
    if DRAFT in st.session_state:
        take_sentence(st.session_state[DRAFT])
        forget_choice()
    for key in SHARED:
        if key in st.session_state and key not in st.query_params:
            st.session_state[key] = st.session_state[key]
            with suppress(StreamlitAPIException):  # a button led here: the widget of the page before is still bound
                st.query_params[key] = str(st.session_state[key])


def drawn() -> None:
    """The page has been drawn to its end: the browser holds what was put into its boxes."""
    st.session_state[DRAWN] = True


def open_with_example(task: Task) -> None:
    """Takes the first example where the user has not written anything of their own for this task."""
    written = st.session_state.get(TEXT)
    ours = {example for examples in EXAMPLES.values() for example in examples}
    if written is None or (written in ours and written not in task.examples):
        st.session_state[TEXT] = task.examples[0] if task.examples else ""
        st.session_state[FRESH] = written is None


def fill_sentence_box() -> None:
    """Puts the text into its box, before that is drawn, where the browser may have another or none.

    Trap: on the way to another page the browser forgets what was put into a box, while the session still has it; so
    the box is not where the text is kept (test_the_example_is_there_on_every_page). And what is put into a box again
    at each run takes away what was typed there while that run was on its way (test_the_box_is_filled_once_on_a_page).
    """
    if not st.session_state.get(DRAWN) or st.session_state.get(SENTENCE) != st.session_state[TEXT]:
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
    show_sentence(0)


def show_sentence(index: int) -> None:
    """Chooses one of several sentences, from 0: its best translation, from its beginning."""
    st.session_state[SHOWN_SENTENCE] = index
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


def show_given(place: int, file: CheckpointFile, source: str, pieces: tuple[int, ...] = ()) -> None:
    """Shows the visitor's own translation of this sentence, which may be chosen pieces; it stands at this place, after
    the model's."""
    st.session_state[GIVEN_FOR] = (file, source)
    st.session_state[GIVEN_PIECES] = pieces
    st.session_state[SHOWN_HYPOTHESIS] = place


def show_hypothesis(index: int) -> None:
    """Chooses one of the alternatives."""
    st.session_state[SHOWN_HYPOTHESIS] = index


def choose_position(key: Place, index: int) -> None:
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


def follow(key: str, defaults: Mapping[str, object]) -> None:
    """Before widgets are drawn: those that show what `key` gave as their defaults show these instead. So what nobody
    has changed is what the checkpoint's own recipe says, after another one was open, too."""
    before = st.session_state.get(key, defaults)
    if before != defaults:
        for widget, value in defaults.items():
            if st.session_state.get(widget) == before[widget]:
                st.session_state[widget] = value
    st.session_state[key] = defaults


def is_dark() -> bool:
    """Whether the page is shown on dark ground."""
    return st.context.theme.type == "dark"
