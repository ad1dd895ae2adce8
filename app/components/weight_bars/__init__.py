"""One row of attention weights as bars. While a bar is dragged, the others share what is left, at once and in the
browser. When the bar is released, the page gets all weights."""

from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st

from app.components.numbered import listening, received
from app.components.registration import component, sent

WHOLE = 10_000  # the sum of the weights that are sent, up to rounding

_component = component("weight_bars")


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
        on_choose: is called with "layer", "head" or "step" and its number from 0, or with "all" and 1 (all heads) or 0.
        on_set: is called with the weights of all keys, in parts of `WHOLE`.
    """
    counts = {"layer": data["layers"], "head": data["heads"], "step": len(data["steps"]), "all": 2}

    def released() -> None:
        found: Any = sent(key, "released")
        weights, number = (found.get(part) if isinstance(found, dict) else None for part in ("weights", "number"))
        if not isinstance(number, int):
            return
        st.session_state[f"{key}_received"] = number
        if weights is None:
            on_reset()
        elif _are_weights(weights, len(data["tokens"])):
            on_set(weights)

    _component(
        data=data | {"received": received(key)},
        key=key,
        on_chosen_change=listening(key, counts, on_choose),
        on_released_change=released,
    )


def _are_weights(weights: Any, count: int) -> bool:
    if not isinstance(weights, list) or len(weights) != count:
        return False
    return all(isinstance(each, int) and 0 <= each <= WHOLE for each in weights) and any(weights)
