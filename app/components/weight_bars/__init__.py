"""One row of attention weights as bars: a bar is dragged, and the others share what is left, in the browser at once.
When it is let go, the page is told all weights."""

from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st

from app.components.numbered import heard, listening
from app.components.registration import component

WHOLE = 10_000  # what the weights that are told sum to, to rounding

_component = component("weight_bars", styles=["token"])


def weight_bars(
    data: dict[str, Any],
    *,
    key: str,
    on_choose: Callable[[str, int], None],
    on_set: Callable[[Sequence[int]], None],
    on_reset: Callable[[], None],
) -> None:
    """Draws the bars and the line of controls above them.

    Args:
        data: from `app.views.whatif.attention_row.message`.
        on_choose: is told that another "layer", "head" or "step" was chosen, from 0, or "all" heads (1) or not (0).
        on_set: is told the weights of all keys, in parts of `WHOLE`.
    """
    counts = {"layer": data["layers"], "head": data["heads"], "step": len(data["steps"]), "all": 2}

    def released() -> None:
        told: Any = st.session_state[key].released
        weights, number = (told.get(part) if isinstance(told, dict) else None for part in ("weights", "number"))
        if not isinstance(number, int):
            return
        st.session_state[f"{key}_heard"] = number
        if weights is None:
            on_reset()
        elif _are_weights(weights, len(data["tokens"])):
            on_set(weights)

    _component(
        data=data | {"heard": heard(key)},
        key=key,
        on_chosen_change=listening(key, counts, on_choose),
        on_released_change=released,
    )


def _are_weights(weights: Any, count: int) -> bool:
    if not isinstance(weights, list) or len(weights) != count:
        return False
    return all(isinstance(each, int) and 0 <= each <= WHOLE for each in weights) and any(weights)
