"""The parts of the Decoding page that need the browser: the loop, the tree of a search, two texts word by word.

As in `app.components`: text reaches the page by `textContent` alone, and each component is registered once, here.
"""

from collections.abc import Callable
from typing import Any

import streamlit as st

from app.components import component

_loop = component("loop", "svg", "loop_chips", styles=["svg", "folded", "loop"])
_tree = component("tree", "svg", styles=["svg", "tree"])
_difference = component("difference", styles=["difference"])


def loop(data: dict[str, Any], *, key: str) -> None:
    """One turn of the decoder's loop; data from `app.views.decoding.loop_data.loop_picture`."""
    _loop(data=data, key=key)


def tree(data: dict[str, Any], *, key: str, on_choose: Callable[[int], None]) -> None:
    """The tree of a search, of which one node is chosen; data from `app.views.decoding.tree_data.tree_picture`."""
    known = {node["id"] for node in data["nodes"]}

    def changed() -> None:
        chosen = st.session_state[key].chosen
        if chosen in known:
            on_choose(int(chosen))

    _tree(data=data, key=key, on_chosen_change=changed)


def difference(data: dict[str, Any], *, key: str) -> None:
    """Two texts word by word; data from `app.views.decoding.text_difference.difference_data`."""
    _difference(data=data, key=key)
