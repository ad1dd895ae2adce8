"""The stream of one token: the vector after each sub-layer, and what each of them adds."""

from collections.abc import Callable
from typing import Any

from app.components.numbered import receive, received
from app.components.registration import component

_component = component("residual_flow", styles=["svg", "token"])


def residual_flow(state: dict[str, Any], *, key: str, on_choose: Callable[[str, int], None]) -> None:
    """Draws what `held_data` has brought under the name `flow`.

    Args:
        state: the `stack` and the `row`, from 0, of the token that is shown until another one is clicked, the chosen
            sub-layer `part` (-1: none), and of which `scene` this is the state.
        on_choose: gets the stack and the row of the token that was; or "part" and the sub-layer.
    """
    _component(data=state | {"received": received(key)}, key=key, on_chosen_change=lambda: on_choose(*receive(key)))
