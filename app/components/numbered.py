"""Choices have a number, which the browser gives them, and the page answers with the number of the newest that it has
received (see components/shared/numbered_choices.js).
"""

from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st

from app.components.registration import sent


def received(key: str) -> int:
    """The number of the newest choice that the page has received from this component; 0 before the first."""
    return int(st.session_state.get(f"{key}_received", 0))


def receive(key: str) -> tuple[str, int]:
    """What has just been chosen in the component `key`: a name and a place, from 0; ("", -1) if that is invalid."""
    found: Any = sent(key, "chosen")
    name, index, number = (found.get(part) if isinstance(found, dict) else None for part in ("name", "index", "number"))
    if not (isinstance(name, str) and isinstance(index, int) and isinstance(number, int)):
        return "", -1
    st.session_state[f"{key}_received"] = number
    return name, index


def listening(key: str, counts: Mapping[str, int], on_choose: Callable[[str, int], None]) -> Callable[[], None]:
    """What a component calls when something was chosen in it: calls `on_choose` with its name and its place, from 0.

    Args:
        counts: by name, how many there are to choose from. A place beyond it is ignored.
    """

    def chosen() -> None:
        name, index = receive(key)
        if 0 <= index < counts.get(name, 0):
            on_choose(name, index)

    return chosen
