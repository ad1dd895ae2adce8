"""Data that another component draws, in a message of its own.

The data stay the same while a reader looks around. So only the choice, a small message, is sent when it changes.
"""

from typing import Any

import streamlit as st

from app.components.chart import encode
from app.components.registration import component

_component = component("held_data")


def held_data(holds: str, data: dict[str, Any]) -> None:
    """Sends data to the browser under the name `holds`, by which the JavaScript of a component finds them."""
    with st.container(key="held"):  # draws nothing, see page.css
        _component(data=encode(data | {"holds": holds}), key=f"held_{holds}")
