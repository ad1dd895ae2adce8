"""A long translation, folded."""

from app.components.registration import component

_component = component("headline", styles=["folded"])


def headline(text: str, language: str, *, key: str) -> None:
    """A long translation: its first two lines, and a button for the rest. `language` is a code, or ""."""
    _component(data={"text": text, "lang": language}, key=key)
