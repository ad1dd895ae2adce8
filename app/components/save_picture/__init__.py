"""Buttons that save a picture as SVG, PNG or HTML, made in the browser."""

from app.components.registration import component

_component = component("save_picture")


def save_picture(target: str, name: str, *, key: str, sentence: str = "") -> None:
    """Buttons that save the picture inside the container with key `target`. In the file, its name and, if given, a
    sentence are above the picture."""
    _component(data={"target": target, "name": name, "sentence": sentence}, key=key)
