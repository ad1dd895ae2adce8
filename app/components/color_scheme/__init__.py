"""A switch between light and dark."""

from collections.abc import Sequence

from app.components.registration import component

_component = component("color_scheme")


def color_scheme(pages: Sequence[str], *, key: str) -> None:
    """A button that switches all pages between the light and the dark theme. `pages`: their names in the address."""
    _component(data={"pages": list(pages)}, key=key)
