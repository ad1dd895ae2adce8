"""All heads of a layer: what each attends to and writes, and what is predicted without it."""

from collections.abc import Callable
from typing import Any

from app.components.numbered import listening, received
from app.components.registration import component

_component = component("head_grid")


def head_grid(data: dict[str, Any], *, key: str, on_choose: Callable[[str, int], None]) -> None:
    """Draws the heads; data from `app.views.multihead.head_grid_data`.

    The browser shows the other steps of the translation without the server, and reports a step at which the reader
    stays.

    Args:
        on_choose: gets "head", "step" or "mode" and the place of the chosen one, from 0. Mode 0: each head is left out;
            1: each is left alone.
    """
    counts = {"head": len(data["heads"]), "step": len(data["steps"]), "mode": 2}
    _component(data=data | {"received": received(key)}, key=key, on_chosen_change=listening(key, counts, on_choose))
