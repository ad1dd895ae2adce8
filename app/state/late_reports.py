"""Ignores values of widgets that the browser sent before it drew the values that the page has chosen instead.

Trap: each message of the browser has the values of all widgets. A message that was sent before a new value was drawn
still has the old value, as if the visitor had chosen the old value again
(test_what_the_page_before_reports_does_not_change_the_scene,
test_the_sentence_that_the_tab_kept_is_not_replaced_by_what_was_on_its_way,
test_an_experiment_that_the_page_before_reports_neither_replaces_nor_edits_that_of_the_scene).
"""

import time
from typing import Any

import streamlit as st

from app.state.choice import Choice

_CHOSEN = "values that are being drawn"  # in the session: by key, a choice and its new value; None: the default
_UNTIL = "until when they are expected to be drawn"  # in the session
TIMEOUT = 20.0  # seconds; if a page is never drawn, the visitor's choices must not be ignored for ever


def expect(*choices: Choice[Any]) -> None:
    """Call it after these choices were given new values: until the new values are drawn, old ones are ignored."""
    st.session_state[_CHOSEN] = _expected() | {choice.key: (choice, _chosen(choice)) for choice in choices}
    st.session_state[_UNTIL] = time.monotonic() + TIMEOUT


def mark_drawn() -> None:
    """The values are drawn: from now on the browser reports what the visitor does."""
    st.session_state.pop(_CHOSEN, None)


def restore() -> None:
    """At the start of a run: chooses the new values again. A widget of the page before, or its callback, may have
    chosen another value, and a widget takes the value of a late report unless another one is chosen in the same run."""
    for choice, value in _expected().values():
        _choose_again(choice, value)


def restored(choice: Choice[Any]) -> bool:
    """For the callback of a widget. Returns whether its value may be an old one; if so, chooses the new one again."""
    found = _expected().get(choice.key)
    if found is None:
        return False
    _choose_again(*found)
    return True


def _expected() -> dict[str, tuple[Choice[Any], Any]]:
    """By key, the choices whose new values are not drawn yet, with these values."""
    found: dict[str, tuple[Choice[Any], Any]] = st.session_state.get(_CHOSEN, {})
    return found if found and time.monotonic() <= st.session_state[_UNTIL] else {}


def _chosen(choice: Choice[Any]) -> Any:
    return choice.value if choice.is_chosen else None


def _choose_again(choice: Choice[Any], value: Any) -> None:
    choice.forget()
    if value is not None:
        choice.choose(value)
