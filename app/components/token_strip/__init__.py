"""A strip of tokens."""

from typing import Any

from app.components.registration import component

_component = component("token_strip")


def token_strip(data: dict[str, Any], *, key: str) -> None:
    """A strip of tokens; data from `app.figures.token_strip`. With `headline`, that text is above it, large."""
    _component(data=data, key=key)
