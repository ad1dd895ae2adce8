"""One head as lines between two rows of tokens; the data of the browser component `lines`.

The weights travel as base64 of float32, so that the browser draws the very numbers of the tensor.
"""

import base64
from typing import Any

import numpy as np

from app.figures.axes import TokenAxis, visible
from app.theme import role_color


def attention_lines(
    weights: np.ndarray,
    queries: TokenAxis,
    keys: TokenAxis,
    *,
    title: str,
    alt: str,
    dark: bool = False,
) -> dict[str, Any]:
    """The weights (Q, K) of one head, for `app.components.lines`."""
    if weights.shape != (len(queries), len(keys)):
        raise ValueError(f"weights {weights.shape} for {len(queries)} queries and {len(keys)} keys")
    return {
        "title": title,
        "alt": alt,
        "shape": list(weights.shape),
        "weights": base64.b64encode(np.ascontiguousarray(weights, dtype="<f4").tobytes()).decode("ascii"),
        "keys": _side(keys, dark),
        "queries": _side(queries, dark),
    }


def _side(axis: TokenAxis, dark: bool) -> dict[str, Any]:
    predicts = axis.predicts or axis.tokens
    return {
        "title": axis.title,
        "color": role_color(axis.role, dark),
        "tokens": [visible(token) for token in predicts],
        "reads": [visible(token) for token in axis.tokens] if axis.predicts else [],
    }
