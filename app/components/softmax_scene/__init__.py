"""A softmax with and without the division by sqrt(d_k), side by side. The browser changes and computes both."""

from collections.abc import Callable
from typing import Any

from app.components.chart import encode
from app.components.numbered import listening, received
from app.components.registration import component

_component = component("softmax_scene")


def softmax_scene(data: dict[str, Any], *, key: str, on_choose: Callable[[str, int], None]) -> None:
    """Draws the two distributions; data from `app.views.scaling.softmax_message.softmax_message`.

    Args:
        on_choose: gets "mode", "width" or "query" and the place of the chosen one, from 0. Mode 0: random vectors; 1:
            the reader's words.
    """
    counts = {"mode": 2, "width": len(data["widths"]), "query": len(data["head"]["queries"])}
    _component(
        data=encode(data | {"received": received(key)}), key=key, on_chosen_change=listening(key, counts, on_choose)
    )
