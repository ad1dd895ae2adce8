"""Weights of all layers and heads: small enough to be drawn as tiles, and as one table."""

from collections.abc import Sequence

import numpy as np

from app.figures.axes import TokenAxis
from app.languages import _

# Cells along an edge of a tile. A larger matrix has more cells than its tile has pixels; so its cells are put together
# in blocks, and the tile shows the strongest weight of each block.
LARGEST_TILE = 64


def pooled(weights: np.ndarray) -> np.ndarray:
    """(L, H, Q, K) -> (L, H, Q', K'), Q' and K' at most LARGEST_TILE: the strongest weight of each block of cells.

    An axis of at most LARGEST_TILE is not changed.
    """
    for axis in (2, 3):
        length = weights.shape[axis]
        if length > LARGEST_TILE:
            weights = np.maximum.reduceat(weights, np.arange(0, length, -(-length // LARGEST_TILE)), axis=axis)
    return weights


def heads_table(
    weights: np.ndarray, queries: TokenAxis, keys: TokenAxis, layers: Sequence[int]
) -> dict[str, list[str] | np.ndarray]:
    """All numbers of all heads, (L, H, Q, K): a line for each row of each head, one column per key.

    Args:
        layers: the numbers of the L layers, from 0.
    """
    layer, head, row = (axis.ravel() for axis in np.indices(weights.shape[:3]))  # (L * H * Q) each
    lines = weights.reshape(-1, weights.shape[-1])  # (L * H * Q, K)
    return {
        _("layer"): np.asarray(layers)[layer] + 1,
        _("head"): head + 1,
        _("query"): [queries.names[i] for i in row],
        **{name: lines[:, k] for k, name in enumerate(keys.names)},
    }
