"""Data that another component draws, in a message of its own.

It is the same while one looks around, so it is not sent again when what is chosen changes, which is a small message.
"""

from typing import Any

import streamlit as st

from app.components.chart import encode
from app.components.registration import component

_component = component("held_data")


def held_data(holds: str, data: dict[str, Any]) -> None:
    """Brings the browser data under a name, by which the JavaScript of a component finds it."""
    with st.container(key="held"):  # has nothing to see, see page.css
        _component(data=encode(data | {"holds": holds}), key=f"held_{holds}")
