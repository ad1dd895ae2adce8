"""A sentence and the same words shuffled, with lines between them, and how far the output of each word moved."""

from collections.abc import Callable
from typing import Any

from app.components.registration import component

_component = component("word_order")


def word_order(data: dict[str, Any], *, key: str, on_shuffle: Callable[[], None]) -> None:
    """Draws both orders.

    Args:
        data: from `app.views.positions.page.message`.
        on_shuffle: is called when another order is asked for.
    """
    _component(data=data, key=key, on_shuffled_change=on_shuffle)
