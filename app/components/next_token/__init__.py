"""The decoder's loop: what goes in, the distribution over the next token, and the live hypotheses, step by step."""

from collections.abc import Callable
from typing import Any

from app.components.numbered import receive, received
from app.components.registration import component, sent

_component = component("next_token")


def next_token(
    frame: dict[str, Any],
    step: int,
    *,
    key: str,
    on_step: Callable[[int], None],
    on_other: Callable[[int, int], None],
) -> None:
    """The loop at a step, from 0; all steps are sent, so the browser shows the others without the server.

    Args:
        frame: from `app.views.decoding.frame_section.frame_of`.
        on_step: is called with the step at which the reader stopped.
        on_other: is called with a step and the id of another token that was clicked in its distribution.
    """
    steps = len(frame["steps"])

    def stepped() -> None:
        _, index = receive(key)
        if 0 <= index < steps:
            on_step(index)

    def other() -> None:
        found: Any = sent(key, "other")
        at, token = (found.get(name) if isinstance(found, dict) else None for name in ("step", "id"))
        if isinstance(at, int) and isinstance(token, int) and 0 <= at < steps:
            on_step(at)
            on_other(at, token)

    data = {"frame": frame, "step": step, "received": received(key)}
    _component(data=data, key=key, on_chosen_change=stepped, on_other_change=other)
