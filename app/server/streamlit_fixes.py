"""Corrects defects of Streamlit that a visitor can trigger. Each correction has a test that fails without it."""

import functools
import math
from collections.abc import Callable
from typing import Any

from streamlit.elements.widgets.number_input import NumberInputSerde


def install() -> None:
    """Corrects what is listed here, once in a process."""
    if not getattr(NumberInputSerde.deserialize, "_corrected", False):
        NumberInputSerde.deserialize = _finite(NumberInputSerde.deserialize)  # type: ignore[method-assign]


def _finite(deserialize: Callable[..., Any]) -> Callable[..., Any]:
    """Drops a value that is not finite. For `?top_k=1e400` in the URL, or NaN from the browser, an input for whole
    numbers raises, and the page has no sentence box."""

    @functools.wraps(deserialize)
    def corrected(self: NumberInputSerde, value: float | None) -> float | None:
        return deserialize(self, value if value is None or math.isfinite(value) else None)

    corrected._corrected = True  # type: ignore[attr-defined]
    return corrected
