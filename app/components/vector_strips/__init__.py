"""Vectors below each other, each as a strip of coloured cells.

The browser draws them in a few milliseconds; a Plotly chart takes 50.
"""

from typing import Any

from app.components.chart import encode
from app.components.registration import component

_component = component("vector_strips")


def vector_strips(data: dict[str, Any], *, key: str) -> None:
    """Draws one row of several tensors; data from `app.figures.strips.strips_picture`."""
    _component(data=encode(data), key=key)
