"""Ignores values of widgets that the browser sent before it drew the values that the page has chosen instead.

Trap: each message of the browser has the values of all widgets. A message that was sent before a new value was drawn
still has the old value, as if the visitor had chosen the old value again
(test_what_the_page_before_reports_does_not_change_the_scene,
test_the_sentence_that_the_tab_kept_is_not_replaced_by_what_was_on_its_way).
"""

import time
from typing import Any

import streamlit as st

from app.state.choice import Choice

_CHOSEN = "values that are being drawn"  # in the session: key of a choice -> its new value; None: the default
_UNTIL = "until when they are expected to be drawn"  # in the session
TIMEOUT = 20.0  # seconds; if a page is never drawn, the visitor's choices must not be ignored for ever


def expect(*choices: Choice[Any]) -> None:
    """Call it after these choices were given new values: until the new values are drawn, old ones are ignored."""
    st.session_state[_CHOSEN] = st.session_state.get(_CHOSEN, {}) | {
        choice.key: choice.value if choice.is_chosen else None for choice in choices
    }
    st.session_state[_UNTIL] = time.monotonic() + TIMEOUT


def mark_drawn() -> None:
    """The values are drawn: from now on the browser reports what the visitor does."""
    st.session_state.pop(_CHOSEN, None)


def restored(choice: Choice[Any]) -> bool:
    """For the callback of a widget. Returns whether its value may be an old one; if so, chooses the new one again."""
    chosen: dict[str, Any] = st.session_state.get(_CHOSEN, {})
    if choice.key not in chosen or time.monotonic() > st.session_state[_UNTIL]:
        return False
    value = chosen[choice.key]
    choice.forget()
    if value is not None:
        choice.choose(value)
    return True
