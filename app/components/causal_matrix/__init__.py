"""The causal mask on a translation: one head's attention with it and without it, and what each row predicts."""

from collections.abc import Callable
from typing import Any

from app.components.numbered import heard, listening
from app.components.registration import component

_component = component("causal_matrix", styles=["svg", "segments"])


def causal_matrix(data: dict[str, Any], *, key: str, on_choose: Callable[[str, int], None]) -> None:
    """Draws the matrix; taking the mask away and pointing at cells need no server.

    Args:
        data: from `app.views.shared.causal_picture.message`.
        on_choose: is told that another "layer" or "head" was chosen, from 0.
    """
    counts = {"layer": data["layers"], "head": data["heads"]}

    _component(data=data | {"heard": heard(key)}, key=key, on_chosen_change=listening(key, counts, on_choose))
