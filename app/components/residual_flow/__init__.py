"""The stream of one token: the vector after each sub-layer, and what each of them adds."""

from collections.abc import Callable
from typing import Any

from app.components.numbered import receive, received
from app.components.registration import component

_component = component("residual_flow")


def residual_flow(state: dict[str, Any], *, key: str, on_choose: Callable[[str, int], None]) -> None:
    """Draws the data that `held_data` has sent under the name `flow`.

    Args:
        state: the `stack` and the `row`, from 0, of the token that is shown until another one is clicked, the chosen
            sub-layer `part` (-1: none), the edits that are `off`, and the `scene` to whose data this state belongs.
        on_choose: gets the stack and the row of the token that was clicked; or "part" and the place of the sub-layer;
            or the text of an edit, and 1 if it takes its part away or 0 if the part is back.
    """
    _component(data=state | {"received": received(key)}, key=key, on_chosen_change=lambda: on_choose(*receive(key)))
