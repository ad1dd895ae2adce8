"""A switch for every head and every sub-layer of a model: three grids, with layers down and heads across."""

from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st

from app.components.numbered import received
from app.components.registration import component, sent

_component = component("head_switches")


def head_switches(data: dict[str, Any], *, key: str, on_change: Callable[[Sequence[str]], None]) -> None:
    """Draws the switches; data from `app.views.whatif.switch_data`.

    The browser shows a click at once. `on_change` gets the texts of all edits that are on now.
    """
    parts = [part for panel in data["panels"] for row in panel["rows"] for part in row if part]
    known = {part[name] for part in parts for name in ("edit", "other") if name in part}

    def changed() -> None:
        found = sent(key, "changed")
        off, number = (found.get(name) if isinstance(found, dict) else None for name in ("off", "number"))
        if isinstance(off, list) and isinstance(number, int):
            st.session_state[f"{key}_received"] = number
            on_change([text for text in off if isinstance(text, str) and text in known])

    _component(data={**data, "received": received(key)}, key=key, on_changed_change=changed)
