"""What the scene of the page gets: the tokens and the tensors of one head, sent once, and why a key is forbidden.

Every number that the scene shows is one of these tensors (float32, as the model computed them), except the products
q_i k_i of one dimension, which the browser multiplies (test_the_scene_gets_the_tensors_of_the_head).
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from app.figures.axes import TokenAxis, in_words
from app.figures.mask_reasons import Parts
from app.figures.theme import kind_color, role_color, signed_scale
from app.languages import _, gettext_noop
from app.views.shared.rounding import ROUNDING
from transformer.analysis.batch_masks import Part
from transformer.model.attention_kinds import Kind

TENSORS = ("query", "key", "value", "products", "scores", "weights", "context")
REASONS: dict[Part, str] = {
    "padding": gettext_noop("padding"),
    "causal": gettext_noop("later word"),
    "window": gettext_noop("too far"),
}
OTHER = gettext_noop("by an edit")


def reasons_of(mask: np.ndarray, parts: Parts) -> tuple[np.ndarray, list[str]]:
    """For each cell of a mask (Q, K) the number of the reason why it is forbidden, 0 if it is allowed; and the text of
    each number. If several parts forbid a cell, the reason is the first of them."""
    found = np.where(mask, 0, len(parts) + 1).astype(np.uint8)  # (Q, K)
    for number, part in reversed(list(enumerate(parts.values(), start=1))):
        found[~mask & ~part] = number
    return found, ["", *(_(REASONS[name]) for name in parts), _(OTHER)]


def _edited(tensors: Mapping[str, np.ndarray]) -> np.ndarray:
    """(Q): whether an edit changes the scores of the query after the mask, so that they are not those of the scene."""
    masked = np.where(tensors["mask"], tensors["scores"], -np.inf)
    return ~np.isclose(tensors["masked_scores"], masked, ROUNDING, ROUNDING).all(axis=-1)


def scene_message(
    kind: Kind,
    axes: tuple[TokenAxis, TokenAxis],
    tensors: Mapping[str, np.ndarray],
    parts: Parts,
    chosen: tuple[int, int],
) -> dict[str, Any]:
    """The message for `app.components.query_scene`.

    Args:
        axes: queries and keys.
        tensors: of one head: `query` and `context` (Q, E), `key` and `value` (K, E), and (Q, K) each of `products`,
            `scores`, `mask`, `masked_scores`, `weights`.
        parts: of the mask, (Q, K) each.
        chosen: the query and the key, from 0.
    """
    queries, keys = axes
    reasons, texts = reasons_of(tensors["mask"], parts)
    return {
        "d_k": int(tensors["query"].shape[-1]),
        "queries": [in_words(token) for token in queries.tokens],
        "predicts": [in_words(token) for token in queries.predicts],
        "keys": [in_words(token) for token in keys.tokens],
        "query_title": queries.title,
        "key_title": keys.title,
        "arrays": {name: tensors[name].astype(np.float32) for name in TENSORS} | {"reasons": reasons},
        "reason_texts": texts,
        "edited": _edited(tensors).tolist(),
        "colors": {"stream": kind_color(kind), "query": role_color(queries.role), "key": role_color(keys.role)},
        "scale": signed_scale(),
        "query": chosen[0],
        "key": chosen[1],
    }
