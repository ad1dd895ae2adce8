"""Two frames beside each other, each with a page of this app in it: a visitor of its own, which shares no choices."""

from collections.abc import Sequence

from app.components.registration import component

_component = component("frames")


def frames(sides: Sequence[tuple[str, str]], *, key: str) -> None:
    """Draws the frames. A frame whose address is another one than before is loaded again.

    Args:
        sides: of each frame, what it shows in words, and its address from the page, such as "./masks?t=2".
    """
    _component(data={"sides": [{"name": name, "address": address} for name, address in sides]}, key=key)
