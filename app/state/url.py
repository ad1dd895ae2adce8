"""What is chosen, mirrored in the address: a link opens what its sender saw. The choices stand in app.state.session."""

from collections.abc import Mapping, Sequence
from typing import Literal, TypeVar

import streamlit as st

from app.state.session import (
    HEAD,
    KIND,
    LAYER,
    OTHER_TOKEN,
    SHOWN_HYPOTHESIS,
    SOURCE_TOKEN,
    STEP,
    Place,
)
from transformer.decoding.translation import Translation

Choice = TypeVar("Choice")
Name = TypeVar("Name", bound=str)


def linked(key: str, options: Sequence[Choice], default: Choice) -> Choice:
    """A choice kept in the session, mirrored in the address; to be called before the widget of that key is drawn.

    Trap: a widget bound to the address leaves it when its value is the default. Where the default depends on what else
    is chosen, such a link would open with another choice (test_a_link_restores_the_head_whatever_the_page_opens_with).
    """
    if st.session_state.get(key) not in options:
        text = st.query_params.get(key)
        st.session_state[key] = next((option for option in options if str(option) == text), default)
    chosen: Choice = st.session_state[key]
    _mirror(key, chosen)
    return chosen


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
    _mirror(key, chosen + 1)
    return chosen


def shown_hypothesis(translation: Translation) -> int:
    """Which of its alternatives is shown, from 0."""
    return shown(SHOWN_HYPOTHESIS, len(translation.hypotheses))


def position(key: Place, count: int, default: int = 0) -> int:
    """A chosen token, from 0, in a row of `count`; kept in the session and mirrored, from 1, in the address."""
    if key not in st.session_state:
        st.session_state[key] = _number_in_address(key, default)
    chosen = min(max(int(st.session_state[key]), 0), count - 1)
    _mirror(key, chosen + 1)
    return chosen


def keep_in_address() -> None:
    """Puts all that is chosen on every page into the address, and takes it from there, whatever this page uses of it.

    Trap: on the way to another page Streamlit drops what we have written into the address, and a link that is copied
    there would have lost what that page does not ask for (test_what_is_chosen_is_in_the_address_of_every_page).
    """
    if KIND not in st.session_state and KIND in st.query_params:
        st.session_state[KIND] = st.query_params[KIND]
    if KIND in st.session_state:
        _mirror(KIND, st.session_state[KIND])
    for key in (LAYER, HEAD, STEP, SOURCE_TOKEN, OTHER_TOKEN):
        first = 1 if key in (STEP, SOURCE_TOKEN, OTHER_TOKEN) else 0  # tokens count from 0, in the address from 1
        number = _small_number(key)
        if key not in st.session_state and number:
            st.session_state[key] = number - first
        if key in st.session_state:
            _mirror(key, int(st.session_state[key]) + first)


def go_to(page: str) -> None:
    """Opens `app/views/PAGE/page.py`, and ends this run of the script. What is chosen goes along.

    Trap: without `query_params` Streamlit raises where a widget stands in the address that is bound to it, such as
    another checkpoint than the first (test_a_button_leads_to_another_page_whatever_stands_in_the_address).
    """
    st.switch_page(f"views/{page}/page.py", query_params={})


def stack_from_old_link() -> None:
    """Takes the stack of an old link, when three pages had one of their own: now the kind of attention says it."""
    for key in ("stream_of", "positions_of", "sizes_of"):
        stack = st.query_params.pop(key, None)
        if stack in ("encoder", "decoder"):
            st.session_state[KIND] = "encoder" if stack == "encoder" else "cross"


def _number_in_address(key: str, default: int) -> int:
    """A number that stands in the address from 1, counted from 0."""
    linked = _small_number(key)
    return default if linked is None else linked - 1


def _small_number(key: str) -> int | None:
    text = st.query_params.get(key, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 5 else None


def _mirror(key: str, value: object) -> None:
    if st.query_params.get(key) != str(value):
        st.query_params[key] = str(value)
