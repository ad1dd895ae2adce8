"""What every page has: its question as heading, a few sentences below the picture, the details, and the next question.

    question  ->  one picture with its controls  ->  at most three sentences  ->  Details  ->  Next

The entry script draws the question and the next one; a page draws what is between them.
"""

from collections.abc import Callable

import streamlit as st

from app.pages import PageInfo, after, page_named
from app.state.choices import DETAILS

_EXPANDER = "details_expander"  # the key of the widget; the choice outlives it


def question(page: PageInfo) -> None:
    """The heading of the page."""
    with st.container(key="question"):
        st.title(page.question, anchor=False)


def say(*sentences: str) -> None:
    """Writes at most three sentences below the picture, as text: they may quote what a visitor typed."""
    with st.container(key="said_below_picture"):
        st.text(" ".join(sentences))


def experiment(words: str, **chosen: str) -> None:
    """A link to an experiment of the page What if, below the sentences; `chosen` is what is chosen there."""
    with st.container(key="experiment_link"):
        st.page_link(page_named("whatif"), label=words, icon=":material/science:", query_params=chosen)


def details(draw: Callable[[], None]) -> None:
    """Formulas, code, tables and further pictures, folded until somebody opens them; then they are open on every page.

    Args:
        draw: draws them; is called only while they are open.
    """
    st.session_state[_EXPANDER] = DETAILS.value
    folded = st.expander("Details: formulas, code, tables, more pictures", key=_EXPANDER, on_change=_fold)
    if folded.open:
        with folded:
            draw()


def next_question(page: PageInfo) -> None:
    """A link to the page that comes next."""
    following = after(page)
    with st.container(key="next_question"):
        st.page_link(page_named(following.name), label=f"Next: {following.question}", icon=":material/arrow_forward:")


def _fold() -> None:
    DETAILS.choose(bool(st.session_state[_EXPANDER]))
