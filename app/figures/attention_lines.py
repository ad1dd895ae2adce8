"""Heads as lines between two rows of tokens; the data of the browser component `attention_lines`.

The weights are sent as base64 of float32, so that the browser draws the exact numbers of the tensor. With `head`, all
heads of a layer are sent together, and the reader turns them on and off without asking the server.
"""

import base64
from collections.abc import Sequence
from typing import Any

import numpy as np

from app.figures.axes import TokenAxis, in_words
from app.figures.theme import head_color, head_is_dashed, role_color


def attention_lines(
    weights: np.ndarray,
    queries: TokenAxis,
    keys: TokenAxis,
    *,
    title: str,
    alt: str,
    head: int | None = None,
    on: Sequence[int] = (),
    row: int | None = None,
) -> dict[str, Any]:
    """The weights of one head (Q, K), or with `head` of all heads of a layer (H, Q, K).

    Args:
        head: the chosen one, from 0. Each head has its own colour then.
        on: the heads that are drawn at first, from 0; if empty, the chosen one.
        row: the row to isolate, from 0.
    """
    if weights.shape[-2:] != (len(queries), len(keys)) or weights.ndim != (2 if head is None else 3):
        raise ValueError(f"weights {weights.shape} for {len(queries)} queries and {len(keys)} keys")
    data = {
        "title": title,
        "alt": alt,
        "shape": list(weights.shape),
        "weights": base64.b64encode(np.ascontiguousarray(weights, dtype="<f4").tobytes()).decode("ascii"),
        "keys": _side(keys),
        "queries": _side(queries),
        "row": row,
    }
    if head is not None:
        colors = [{"color": head_color(j), "dashed": head_is_dashed(j)} for j in range(len(weights))]
        data |= {"heads": colors, "chosen": head, "on": [j for j in on if 0 <= j < len(weights)] or [head]}
    return data


def _side(axis: TokenAxis) -> dict[str, Any]:
    predicts = axis.predicts or axis.tokens
    return {
        "title": axis.title,
        "color": role_color(axis.role),
        "tokens": [in_words(token) for token in predicts],
        "reads": [in_words(token) for token in axis.tokens] if axis.predicts else [],
    }
