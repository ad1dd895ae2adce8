"""The tree of a search, of which one node is chosen."""

from collections.abc import Callable
from typing import Any

from app.components.registration import component, sent

_component = component("search_tree")


def search_tree(data: dict[str, Any], *, key: str, on_choose: Callable[[int], None]) -> None:
    """The tree of a search, of which one node is chosen; data from `app.views.decoding.tree_data.tree_picture`."""
    known = {node["id"] for node in data["nodes"]}

    def changed() -> None:
        chosen = sent(key, "chosen")
        if chosen in known:
            on_choose(int(chosen))

    _component(data=data, key=key, on_chosen_change=changed)
