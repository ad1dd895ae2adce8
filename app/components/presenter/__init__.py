"""The presenter's window: notes, what comes next, and a clock. It follows the window of the audience in the same
browser, without the server."""

from collections.abc import Mapping
from typing import Any

from app.components.registration import component

_component = component("presenter")


def presenter(lesson: Mapping[str, Any], *, key: str) -> None:
    """Draws the window. `lesson`: its name, title, minutes and scenes, each with title, minutes, text, notes and
    question."""
    _component(data=dict(lesson), key=key)
