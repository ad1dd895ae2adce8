"""The tensors of the walk, which the component `model_walk` draws.

They are a message of their own: it is the same at all stations of a part of the model, so it is not sent again while
the small one of `model_walk` changes at each.
"""

from typing import Any

from app.components.chart import encode
from app.components.registration import component

_component = component("walk_tensors")


def walk_tensors(data: dict[str, Any], *, key: str) -> None:
    """Brings the browser what `app.views.steps.walk_pictures` made."""
    _component(data=encode(data), key=key)
