"""All layers x heads at a glance, as ONE tiled heatmap: a row of tiles a layer, a column a head.

Forty-eight sub-plots are forty-eight times the work for the browser; one trace with gaps of NaN draws in a fifth of a
second. An invisible marker lies over each tile: it names the tile to who points at it, and carries (layer, head) as its
custom data to who clicks.
"""

from collections.abc import Sequence

import numpy as np

from app.figures.axes import TokenAxis
from app.figures.charts import Figure
from app.figures.panels import BARE, frame, heat, places
from app.figures.theme import INK, weight_scale

LARGEST_TILE = 64  # cells along an edge: beyond, it has fewer pixels than cells, and shows the strongest of each block
TILE = 46  # px, height of a tile


def head_mosaic(weights: np.ndarray, *, layer: int, head: int, row: int | None = None) -> Figure:
    """Every head of every layer, the chosen one framed.

    Args:
        weights: (L, H, Q, K).
        layer, head: the chosen head, from 0.
        row: the row to frame in every tile, from 0.
    """
    layers, heads = weights.shape[:2]
    tiles = pooled(weights)  # (L, H, Q', K')
    q, k = tiles.shape[2:]
    gap_q, gap_k = max(1, q // 7), max(1, k // 12)
    rows, columns = layers * (q + gap_q) - gap_q, heads * (k + gap_k) - gap_k
    wall = np.full((rows, columns), np.nan, dtype=np.float32)
    for i in range(layers):
        for j in range(heads):
            top, left = i * (q + gap_q), j * (k + gap_k)
            wall[top : top + q, left : left + k] = tiles[i, j]
    x = [j * (k + gap_k) + (k - 1) / 2 for j in range(heads)]  # tile centres
    y = [i * (q + gap_q) + (q - 1) / 2 for i in range(layers)]
    every = [(i, j) for i in range(layers) for j in range(heads)]
    data = [
        heat(wall, weight_scale(), 0, 1, xgap=0, ygap=0),
        places(
            [x[j] for _, j in every],
            [y[i] for i, _ in every],
            [f"Layer {i + 1}, head {j + 1}" for i, j in every],
            "%{text}<extra></extra>",
            TILE,
            customdata=every,
        ),
    ]
    pad_x, pad_y = gap_k / 3, gap_q / 3
    half_x, half_y = k / 2 + pad_x, q / 2 + pad_y
    frames = [frame(x[head] - half_x, x[head] + half_x, y[layer] - half_y, y[layer] + half_y, 4)]
    if row is not None:
        tops = [i * (q + gap_q) + row // _block(weights.shape[2]) for i in range(layers)]
        frames += [frame(-0.5, columns - 0.5, top - 0.5, top + 0.5, 1.5) for top in tops]
    axis = BARE | {"automargin": True}
    layout = {
        "height": layers * (TILE + 4) + 60,
        "margin": {"l": 10, "r": 10, "t": 50, "b": 10, "pad": 0},
        "dragmode": False,
        "plot_bgcolor": "rgba(0,0,0,0)",
        "shapes": frames,
        "xaxis": {
            **axis,
            "side": "top",
            "tickvals": x,
            "ticktext": [str(j + 1) for j in range(heads)],
            "title": {"text": "head", "standoff": 4, "font": {"color": INK}},
            "range": [-0.5 - 2 * pad_x, columns - 0.5 + 2 * pad_x],
        },
        "yaxis": {
            **axis,
            "tickvals": y,
            "ticktext": [str(i + 1) for i in range(layers)],
            "title": {"text": "layer", "standoff": 4, "font": {"color": INK}},
            "range": [rows - 0.5 + 2 * pad_y, -0.5 - 2 * pad_y],
        },
    }
    return Figure(data, layout)


def pooled(weights: np.ndarray) -> np.ndarray:
    """(L, H, Q, K) -> (L, H, Q', K'), Q' and K' at most LARGEST_TILE: the strongest weight of each block of cells.

    Up to that length nothing changes.
    """
    for axis in (2, 3):
        length = weights.shape[axis]
        if length > LARGEST_TILE:
            weights = np.maximum.reduceat(weights, np.arange(0, length, _block(length)), axis=axis)
    return weights


def _block(length: int) -> int:
    """How many cells along this edge share a dot."""
    return -(-length // LARGEST_TILE)


def heads_table(
    weights: np.ndarray, queries: TokenAxis, keys: TokenAxis, layers: Sequence[int]
) -> dict[str, list[str] | np.ndarray]:
    """All numbers of all heads, (L, H, Q, K): a line for each row of each head, a column a key.

    Args:
        layers: the numbers of the L layers, from 0.
    """
    layer, head, row = (axis.ravel() for axis in np.indices(weights.shape[:3]))  # (L * H * Q) each
    lines = weights.reshape(-1, weights.shape[-1])  # (L * H * Q, K)
    return {
        "layer": np.asarray(layers)[layer] + 1,
        "head": head + 1,
        "query": [queries.names[i] for i in row],
        **{name: lines[:, k] for k, name in enumerate(keys.names)},
    }


def mosaic_table(weights: np.ndarray, queries: TokenAxis, keys: TokenAxis) -> dict[str, list[str] | np.ndarray]:
    """What the small pictures can tell in words: for each row of each head, (L, H, Q, K), where it looks most."""
    layer, head, row = (axis.ravel() for axis in np.indices(weights.shape[:3]))  # (L * H * Q) each
    strongest = zip(weights.argmax(axis=-1).ravel(), weights.max(axis=-1).ravel(), strict=True)
    return {
        "layer": layer + 1,
        "head": head + 1,
        "row": [queries.names[i] for i in row],
        "attends most to": [keys.names[i] if most else "nowhere" for i, most in strongest],
        "weight": weights.max(axis=-1).ravel(),
    }
