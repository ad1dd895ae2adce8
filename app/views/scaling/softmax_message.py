"""The data of the picture: dot products of random vectors, for each width d_k of the slider, and those of one head.

The browser divides them and takes the softmax (test_the_browser_s_softmax_is_that_of_torch).
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from app.figures.axes import TokenAxis, in_words
from app.figures.theme import kind_color, role_color
from app.views.scaling.softmax import KEYS, SLIDER_WIDTHS, growing_products
from transformer.model.attention_kinds import Kind


def widths_of(own: int) -> tuple[int, ...]:
    """The widths that the slider has: the checkpoint's own is among them."""
    return tuple(sorted({*SLIDER_WIDTHS, own}))


def softmax_message(
    kind: Kind,
    axes: tuple[TokenAxis, TokenAxis],
    tensors: Mapping[str, np.ndarray],
    own: int,
    chosen: tuple[int, int],
) -> dict[str, Any]:
    """The message for `app.components.softmax_scene`.

    Args:
        axes: queries and keys.
        tensors: `products` and `mask` (Q, K) of one head.
        own: d_k of the checkpoint.
        chosen: a width of the slider, and the query from 0.
    """
    queries, keys = axes
    widths = widths_of(own)
    return {
        "widths": list(widths),
        "own": own,
        "width": widths.index(chosen[0]),
        "random_names": [str(number) for number in range(1, KEYS + 1)],
        "products": growing_products(widths),
        "head": {
            "queries": [in_words(token) for token in queries.tokens],
            "predicts": [in_words(token) for token in queries.predicts],
            "query_title": queries.title,
            "keys": [in_words(token) for token in keys.tokens],
            "products": tensors["products"].astype(np.float32),
            "mask": tensors["mask"].astype(np.uint8),
            "query": chosen[1],
        },
        "colors": {"stream": kind_color(kind), "query": role_color(queries.role)},
    }


def table_of(message: Mapping[str, Any]) -> dict[str, list[int] | np.ndarray]:
    """The random products of all widths, one row for each width of the slider."""
    products = message["products"]
    return {"d_k": message["widths"]} | {f"q·k{key}": products[:, key - 1] for key in range(1, KEYS + 1)}
