"""Vectors below each other as strips of colour: drawn by the browser in a few milliseconds, where a chart takes fifty.

As in `app.components`: names reach the page by `textContent` alone, and the component is registered once, here.
"""

from typing import Any

from app.components import component
from app.components.chart import encode

_strips = component("strips", "arrows", "svg", "themed", styles=["svg", "strips"])


def strips(data: dict[str, Any], *, key: str) -> None:
    """One row of several tensors; data from `app.figures.strips.strips_picture`."""
    _strips(data=encode(data), key=key)
