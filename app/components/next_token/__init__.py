"""The decoder's loop: what goes in, the distribution over the next token, and the live hypotheses, step by step."""

from collections.abc import Callable
from typing import Any

from app.components.numbered import receive, received
from app.components.registration import component, sent

_component = component("next_token")


def next_token(
    state: dict[str, Any],
    steps: int,
    *,
    key: str,
    on_step: Callable[[int], None],
    on_other: Callable[[int, int], None],
) -> None:
    """Draws the data that `held_data` has sent under the name `loop`, from
    `app.views.decoding.frame_section.frame_of`. They have all steps, so the browser shows another step by itself.

    Args:
        state: the `step`, from 0, and the `scene` to whose data this state belongs.
        steps: how many steps there are.
        on_step: is called with the step at which the reader stopped.
        on_other: is called with a step and the id of another token that was clicked in its distribution.
    """

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

    _component(data=state | {"received": received(key)}, key=key, on_chosen_change=stepped, on_other_change=other)
