"""One query of one head and all keys: the calculation of the weights as a scene that plays in the browser."""

from collections.abc import Callable
from typing import Any

from app.components.chart import encode
from app.components.numbered import listening, received
from app.components.registration import component

_component = component("query_scene")


def query_scene(data: dict[str, Any], *, key: str, on_choose: Callable[[str, int], None]) -> None:
    """Draws the scene; data from `app.views.hand.scene_message.scene_message`.

    Args:
        on_choose: gets "query" or "key" and the place of the chosen one, from 0.
    """
    counts = {"query": len(data["queries"]), "key": len(data["keys"])}
    _component(
        data=encode(data | {"received": received(key)}), key=key, on_chosen_change=listening(key, counts, on_choose)
    )
