"""A button that copies the address of this view."""

from collections.abc import Mapping

from app.components.registration import component

_component = component("copy_link")


def copy_link(texts: Mapping[str, str], *, host: str, key: str) -> None:
    """A button that copies the address of this view with these texts in it. The browser's own address lacks them.

    Args:
        host: the host name by which other machines reach the app; "" if they cannot.
    """
    _component(data={"texts": dict(texts), "host": host}, key=key)
