"""A softmax with and without the division by sqrt(d_k), beside each other: changed and computed in the browser."""

from collections.abc import Callable
from typing import Any

from app.components.chart import encode
from app.components.numbered import hear, heard
from app.components.registration import component

_component = component("softmax_scene", styles=["svg", "words"])


def softmax_scene(data: dict[str, Any], *, key: str, on_choose: Callable[[str, int], None]) -> None:
    """Draws the two distributions; data from `app.views.scaling.softmax_message.softmax_message`.

    Args:
        on_choose: gets "width" or "query" and the place of the chosen one, from 0.
    """

    def chosen() -> None:
        name, index = hear(key)
        counts = {"width": len(data["widths"]), "query": len(data["head"]["queries"])}
        if 0 <= index < counts.get(name, 0):
            on_choose(name, index)

    _component(data=encode(data | {"heard": heard(key)}), key=key, on_chosen_change=chosen)
