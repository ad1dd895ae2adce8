"""All heads of a layer: what each attends to and writes, and what is predicted without it."""

from collections.abc import Callable
from typing import Any

from app.components.registration import component, sent

_component = component("head_grid", styles=["svg", "token", "head_map", "segments"])


def head_grid(data: dict[str, Any], *, key: str, on_choose: Callable[[int], None]) -> None:
    """Draws the heads; data from `app.views.multihead.head_grid_data`. `on_choose` is called with a head, from 0.

    The browser shows the other steps of the translation without the server.
    """

    def chosen() -> None:
        head = sent(key, "chosen")
        if isinstance(head, int) and 0 <= head < len(data["heads"]):
            on_choose(head)

    _component(data=data, key=key, on_chosen_change=chosen)
