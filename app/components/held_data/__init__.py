"""Data that another component draws, in a message of its own.

The data stay the same while a reader looks around. So only the choice, a small message, is sent when it changes.

The message is compressed (deflate). It has the length of the JSON in 4 bytes, the JSON, and the bytes of the arrays. An
array is written in the JSON as {"dtype", "at", "shape"}; `at` is where its bytes begin. The bytes of equal arrays are
sent once: in a walk through the model, one tensor has several names.
"""

import zlib
from typing import Any

import numpy as np
import streamlit as st

from app.components.chart import encode
from app.components.registration import component

LEVEL = 1  # of the compression: the fastest. Level 6 saves 1 % of the bytes of a walk

_component = component("held_data")


def held_data(holds: str, data: dict[str, Any]) -> None:
    """Sends data to the browser under the name `holds`, by which the JavaScript of a component finds them. Each array
    arrives as {values, shape}."""
    with st.container(key="held"):  # draws nothing, see page.css
        _component(data=packed(data | {"holds": holds}), key=f"held_{holds}")


def packed(data: dict[str, Any]) -> bytes:
    """The message with these data."""
    places: dict[bytes, int] = {}  # of the bytes of each array

    def placed(array: np.ndarray) -> dict[str, Any]:
        at = places.setdefault(array.tobytes(), sum(map(len, places)))
        return {"dtype": array.dtype.str[1:], "at": at, "shape": array.shape}

    text = encode(data, placed)
    return zlib.compress(len(text).to_bytes(4, "little") + text + b"".join(places), LEVEL)
