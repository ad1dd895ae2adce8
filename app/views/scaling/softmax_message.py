"""The data of the picture: dot products of random vectors, for each width d_k of the slider, and those of one head.

The browser divides them and takes the softmax (test_the_browser_s_softmax_is_that_of_torch).
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from app.figures.axes import TokenAxis, in_words
from app.figures.softmax import softmax
from app.figures.tables import Table
from app.figures.theme import kind_color, role_color
from app.languages import _
from app.state.detail_choices import MODES_OF_SCORES, ScoresOf
from app.views.scaling.large_scores import KEYS, SLIDER_WIDTHS, growing_products
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
    scores_of: ScoresOf,
    head: str,
) -> dict[str, Any]:
    """The message for `app.components.softmax_scene`.

    Args:
        axes: queries and keys.
        tensors: `products` and `mask` (Q, K) of one head.
        own: d_k of the checkpoint.
        chosen: a width of the slider, and the query from 0.
        scores_of: whose scores are shown.
        head: kind, layer and head in words.
    """
    queries, keys = axes
    widths = widths_of(own)
    return {
        "widths": list(widths),
        "own": own,
        "mode": MODES_OF_SCORES.index(scores_of),
        "width": widths.index(chosen[0]),
        "random_names": [str(number) for number in range(1, KEYS + 1)],
        "products": growing_products(widths),
        "head": {
            "name": head,
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


def table_of(message: Mapping[str, Any], axes: tuple[TokenAxis, TokenAxis], head: str) -> Table:
    """All scores that the picture can show, and their weights: those of the random vectors for each width of the
    slider, then those of the head with this name."""
    widths, products, of_head = np.array(message["widths"]), message["products"], message["head"]
    names = (["1"] * len(widths), message["random_names"])
    random = _cells(_("random"), widths, names, products, np.ones(products.shape, dtype=bool))
    queries, keys = (axis.names for axis in axes)
    own = np.full(len(queries), message["own"])
    chosen = _cells(head, own, (queries, keys), of_head["products"], of_head["mask"].astype(bool))
    return {name: [*column, *chosen[name]] for name, column in random.items()}


def _cells(
    vectors: str, d_k: np.ndarray, names: tuple[Sequence[str], Sequence[str]], products: np.ndarray, mask: np.ndarray
) -> Table:
    """One row for each cell of products (Q, K). `d_k` (Q): one width per query. A forbidden key has no score."""
    queries, keys = names
    divided = products / np.sqrt(d_k)[:, None]
    return {
        _("vectors"): [vectors] * products.size,
        "d_k": d_k.repeat(len(keys)),
        _("query"): [name for name in queries for _key in keys],
        _("key"): [*keys] * len(queries),
        "q·k": np.where(mask, products, np.array(None)).ravel(),
        "q·k / √d_k": np.where(mask, divided, np.array(None)).ravel(),
        "softmax(q·k)": softmax(products, mask).ravel(),
        "softmax(q·k / √d_k)": softmax(divided, mask).ravel(),
    }
