"""The browser numbers the choices that it sends, and the page answers with the number of the newest choice that it has
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
    """What has just been chosen in the component `key`, as a name and a place from 0, or ("", -1) if the message of the
    browser is invalid. Stores the number of the choice as received."""
    found: Any = sent(key, "chosen")
    name, index, number = (found.get(part) if isinstance(found, dict) else None for part in ("name", "index", "number"))
    if not (isinstance(name, str) and isinstance(index, int) and isinstance(number, int)):
        return "", -1
    st.session_state[f"{key}_received"] = number
    return name, index


def listening(key: str, counts: Mapping[str, int], on_choose: Callable[[str, int], None]) -> Callable[[], None]:
    """Returns the callback for a choice in a component. It calls `on_choose` with the name and the place (from 0) of
    the choice.

    Args:
        counts: by name, the number of places to choose from. A place outside of them is ignored.
    """

    def chosen() -> None:
        name, index = receive(key)
        if 0 <= index < counts.get(name, 0):
            on_choose(name, index)

    return chosen
