"""Vectors below each other as strips of colour: drawn by
the browser in a few milliseconds, where a chart takes fifty."""

from typing import Any

from app.components.chart import encode
from app.components.registration import component

_component = component("vector_strips", styles=["svg"])


def vector_strips(data: dict[str, Any], *, key: str) -> None:
    """One row of several tensors; data from `app.figures.strips.strips_picture`."""
    _component(data=encode(data), key=key)
