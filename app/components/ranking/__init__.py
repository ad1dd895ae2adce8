"""A table of all heads, of which one is chosen."""

from collections.abc import Callable
from typing import Any

from app.components.registration import component, sent

_component = component("ranking")


def ranking(data: dict[str, Any], *, key: str, on_choose: Callable[[int, int], None]) -> None:
    """A table of all heads, sorted by any column, of which one is chosen; data from `app.views.attention.head_ranking`.

    `on_choose` is called with layer and head, from 0.
    """

    def changed() -> None:
        index = sent(key, "chosen")
        if isinstance(index, int) and 0 <= index < len(data["rows"]):
            row = data["rows"][index]
            on_choose(row["layer"] - 1, row["head"] - 1)

    _component(data=data, key=key, on_chosen_change=changed)
