"""One turn of the decoder's loop."""

from typing import Any

from app.components.registration import component

_component = component("decoding_loop")


def decoding_loop(data: dict[str, Any], *, key: str) -> None:
    """One turn of the decoder's loop; data from `app.views.decoding.loop_data.loop_picture`."""
    _component(data=data, key=key)
