"""A switch between light and dark."""

from collections.abc import Sequence

from app.components.registration import component

_component = component("color_scheme", styles=["buttons"])


def color_scheme(pages: Sequence[str], *, key: str) -> None:
    """A button that shows all pages on dark ground, or on light ground. `pages`: their names in the address."""
    _component(data={"pages": list(pages)}, key=key)
