"""The walk through the model: its map with a token that travels, and the station where the token is."""

from collections.abc import Callable
from typing import Any

import streamlit as st

from app.components.numbered import received
from app.components.registration import component, sent

_component = component("model_walk")


def model_walk(state: dict[str, Any], *, key: str, on_report: Callable[[dict[str, Any]], None]) -> None:
    """Draws the data that `held_data` has sent under the name `walk`.

    Args:
        state: the station, the chosen tokens and heads, the level of detail, and the scene to whose data this state
            belongs.
        on_report: gets what the visitor has chosen in the browser: the id of a station `at`, the tokens `s` and `t`
            from 0, the `detail`, and `head`, which is [station, head], or None if no head was clicked.
    """

    def changed() -> None:
        report = sent(key, "reported")
        if isinstance(report, dict):
            st.session_state[f"{key}_received"] = report.get("number", 0)
            on_report(report)

    _component(data=state | {"received": received(key)}, key=key, on_reported_change=changed)
