"""A button that copies a text."""

from app.components.registration import component

_component = component("copy_button")


def copy_button(text: str, label: str, help: str, *, key: str) -> None:
    """A button that copies a text; `help` appears over it."""
    _component(data={"text": text, "label": label, "help": help}, key=key)
