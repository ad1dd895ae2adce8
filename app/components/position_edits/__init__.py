"""Changes of the positions of a sentence, a bar for each: what the translation loses by it. A click makes one."""

from collections.abc import Callable
from typing import Any

from app.components.numbered import heard, listening
from app.components.registration import component

_component = component("position_edits", styles=["token"])


def position_edits(data: dict[str, Any], *, key: str, on_choose: Callable[[int], None]) -> None:
    """Draws the bars; data from `app.views.whatif.order_data`.

    Args:
        on_choose: is told the number of a change: first + second x S of a swap of two tokens, from S x S on the others.
    """
    size = len(data["tokens"])
    count = size * size + sum(len(group["changes"]) for group in data["groups"])
    listen = listening(key, {"change": count}, lambda _, index: on_choose(index))
    _component(data=data | {"heard": heard(key)}, key=key, on_chosen_change=listen)
