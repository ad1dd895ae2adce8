"""Buttons that save a picture."""

from app.components.registration import component

_component = component("export", styles=["buttons"])


def export(target: str, name: str, *, key: str) -> None:
    """Buttons that save the picture inside the container with key `target` as SVG, PNG or HTML, made in the browser."""
    _component(data={"target": target, "name": name}, key=key)
