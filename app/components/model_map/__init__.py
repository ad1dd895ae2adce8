"""The map of the model, in which a station is chosen."""

from collections.abc import Callable
from typing import Any

import streamlit as st

from app.components.registration import component

_component = component("model_map", styles=["svg"])


def model_map(data: dict[str, Any], *, key: str, on_choose: Callable[[str], None]) -> None:
    """The map of the model; data from `app.views.steps.model_map.model_map`. `on_choose` gets the id of a station."""
    known = {box["station"] for box in data["boxes"]}

    def changed() -> None:
        station = st.session_state[key].station
        if station in known:
            on_choose(station)

    _component(data=data, key=key, on_station_change=changed)
