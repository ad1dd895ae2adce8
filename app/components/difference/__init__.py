"""Two texts, compared word by word."""

from typing import Any

from app.components.registration import component

_component = component("difference")


def difference(data: dict[str, Any], *, key: str) -> None:
    """Two texts word by word; data from `app.views.shared.text_difference.difference_data`."""
    _component(data=data, key=key)
