"""All heads of two models, coloured by how much of their weight is at other places, and both maps of one head."""

from collections.abc import Callable

from app.components.numbered import listening
from app.components.registration import component

_component = component("head_changes")


def head_changes(message: bytes, count: int, *, key: str, on_choose: Callable[[int], None]) -> None:
    """Draws the heads; the message is from `app.views.compare.head_maps`.

    The browser shows another head without the server.

    Args:
        count: the number of heads.
        on_choose: is called with the chosen head: its place in the order of the message, from 0.
    """
    _component(
        data=message, key=key, on_chosen_change=listening(key, {"head": count}, lambda name, place: on_choose(place))
    )
