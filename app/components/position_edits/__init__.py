"""Changes of the positions of a sentence. A bar for each shows what the translation loses; a click makes the change."""

from collections.abc import Callable
from typing import Any

from app.components.numbered import listening, received
from app.components.registration import component

_component = component("position_edits")


def position_edits(data: dict[str, Any], *, key: str, on_choose: Callable[[int], None]) -> None:
    """Draws the bars; data from `app.views.whatif.order_data`.

    Args:
        on_choose: is called with the number of a change. A swap of two of S tokens has the number first + second x S;
            the other changes have the numbers from S x S on.
    """
    size = len(data["tokens"])
    count = size * size + sum(len(group["changes"]) for group in data["groups"])
    listen = listening(key, {"change": count}, lambda name, index: on_choose(index))
    _component(data=data | {"received": received(key)}, key=key, on_chosen_change=listen)
