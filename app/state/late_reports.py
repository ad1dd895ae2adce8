"""What a widget still reports of the value that it had before the page chose another one for it.

Trap: each message of the browser brings the values of all widgets. One that was on its way when the page chose another
value, and is read before that value is drawn, looks as if the visitor had chosen the old value again
(test_what_the_page_before_reports_does_not_change_the_scene,
test_the_sentence_that_the_tab_kept_is_not_replaced_by_what_was_on_its_way).
"""

import time
from typing import Any

import streamlit as st

from app.state.choice import Choice

_CHOSEN = "values that are being drawn"  # in the session: by key; None: the default
_UNTIL = "until when they are expected to be drawn"  # in the session
LONGEST = 20.0  # seconds; a page that is never drawn must not refuse what the visitor chooses


def expect(*choices: Choice[Any]) -> None:
    """These have been given other values: until they are drawn, widgets may report the ones of before."""
    st.session_state[_CHOSEN] = {choice.key: choice.value if choice.is_chosen else None for choice in choices}
    st.session_state[_UNTIL] = time.monotonic() + LONGEST


def is_drawn() -> None:
    """The values are drawn: from now on the browser reports what the visitor does."""
    st.session_state.pop(_CHOSEN, None)


def is_late(choice: Choice[Any]) -> bool:
    """In the callback of a widget: whether it may report the value of before; then the new one is chosen again."""
    chosen: dict[str, Any] = st.session_state.get(_CHOSEN, {})
    if choice.key not in chosen or time.monotonic() > st.session_state[_UNTIL]:
        return False
    value = chosen[choice.key]
    choice.forget()
    if value is not None:
        choice.choose(value)
    return True
