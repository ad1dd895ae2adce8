"""What every page has: its question as heading, a few sentences below the picture, the details, and the next question.

    question  ->  one picture with its controls  ->  at most three sentences  ->  Details  ->  Next  ->  Words

app/stage/frame.py draws the question and the link to the next one; a page draws what is between them.
"""

from collections.abc import Callable

import streamlit as st

from app import components
from app.components import recording
from app.languages import _
from app.library.glossary import glossary
from app.pages import PageInfo, after, page_named, query
from app.stage.lecture import shown_scene
from app.state.choices import DETAILS
from app.state.lecture_choices import LECTURE

_EXPANDER = "details_expander"  # the key of the widget; its value is kept in DETAILS


def question(page: PageInfo, beside: Callable[[], None] | None = None) -> None:
    """The heading of the page; in a lesson, the title of the scene. `beside` draws something to the right of it."""
    with st.container(key="question"):
        st.title(shown_scene.title() or _typeset(_(page.question)), anchor=False)
        if beside:
            beside()


def _typeset(text: str) -> str:
    """The text with d_k as a formula."""
    return text.replace("d_k", "$d_k$")


def say(*sentences: str) -> None:
    """Writes at most three sentences below the picture, as text: they may quote what a visitor typed."""
    if record := recording.current():
        record.texts_below.append(" ".join(sentences))
    with st.container(key="text_below_picture"):
        st.text(" ".join(sentences))


def experiment(words: str, **chosen: str) -> None:
    """Draws a link to an experiment of the page "What if", which opens with the choices `chosen`."""
    st.page_link(page_named("whatif"), label=words, icon=":material/science:", query_params=query(chosen))


def details(draw: Callable[[], None]) -> None:
    """Formulas, code, tables and further pictures in an expander. Whether it is open is remembered for all pages.

    Args:
        draw: draws them; is called only while they are open. A lecture has none.
    """
    if LECTURE.value:
        return
    st.session_state[_EXPANDER] = DETAILS.value
    expander = st.expander(_("Details: formulas, code, tables, more pictures"), key=_EXPANDER, on_change=_store_details)
    if expander.open:
        with expander:
            draw()


def next_question(page: PageInfo) -> None:
    """A link to the page that comes next. A lecture has none: its keys change the scene."""
    if LECTURE.value:
        return
    following = after(page)
    with st.container(key="next_question"):
        st.page_link(
            page_named(following.name),
            label=_("Next: {question}", question=_typeset(_(following.question))),
            icon=":material/arrow_forward:",
            query_params=query(),
        )


def words() -> None:
    """Lists the words of the page that have an explanation. A lecture has no room for them."""
    if not LECTURE.value and not recording.current():
        components.explained_words(glossary(), key="explained_words")


def _store_details() -> None:
    DETAILS.choose(bool(st.session_state[_EXPANDER]))
