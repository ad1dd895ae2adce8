"""The causal mask on a translation: one head's attention with it and without it, and what each row predicts."""

from collections.abc import Callable
from typing import Any

import streamlit as st

from app.components.numbered import heard, listening
from app.components.registration import component

_component = component("causal_matrix", styles=["svg", "segments"])


def causal_matrix(
    data: dict[str, Any],
    *,
    key: str,
    on_choose: Callable[[str, int], None],
    on_cell: Callable[[int, int], None] | None = None,
) -> None:
    """Draws the matrix; taking the mask away and pointing at cells need no server.

    Args:
        data: from `app.views.shared.causal_picture.message`; `taken`: whether the mask is taken away at first.
        on_choose: is told that another "layer" or "head" was chosen, from 0, or "mask": 0 = with it, 1 = taken away.
        on_cell: is told the query and the key of a cell that was clicked, from 0; without, cells are only pointed at.
    """
    counts = {"layer": data["layers"], "head": data["heads"], "mask": 2}

    def clicked() -> None:
        cell: Any = st.session_state[key].clicked
        query, place = (cell.get(name) if isinstance(cell, dict) else None for name in ("query", "key"))
        size = range(len(data["reads"]))
        if on_cell and isinstance(query, int) and isinstance(place, int) and query in size and place in size:
            on_cell(query, place)

    told = {"heard": heard(key), "clickable": on_cell is not None}
    chosen = listening(key, counts, on_choose)
    _component(data=data | told, key=key, on_chosen_change=chosen, on_clicked_change=clicked)
