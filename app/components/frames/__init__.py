"""Two frames side by side, each with a page of this app. Each frame is a session of its own; they share no choices."""

from collections.abc import Sequence

from app.components.registration import component

_component = component("frames")


def frames(sides: Sequence[tuple[str, str]], *, key: str) -> None:
    """Draws the frames. A frame whose address has changed is loaded again.

    Args:
        sides: for each frame, what it shows in words, and its address relative to the page, such as "./masks?t=2".
    """
    _component(data={"sides": [{"name": name, "address": address} for name, address in sides]}, key=key)
