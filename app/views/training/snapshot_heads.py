"""A head at each snapshot of a run, side by side, in one tiled heatmap: how its attention changes in training.

All snapshots read the same translation, so a cell is the same query and the same key in every tile.
"""

from collections.abc import Sequence

import numpy as np

from app.figures.all_heads import pooled
from app.figures.charts import Figure, title
from app.figures.panels import BARE, FigurePart, frame, heat, places, words
from app.figures.theme import INK, weight_scale
from app.languages import _
from app.languages.numbers import formatted

LABEL, TALL = 42, 124  # px: height of the label above a tile, and of the tile
PAD, ABOVE = 4, 15  # px from a tile to its frame, and to the middle of the number above it, clear of the frame
ONE_LINE = 8  # at most so many tiles side by side


def snapshot_tiles(
    weights: np.ndarray,
    updates: Sequence[int],
    losses: Sequence[float],
    chosen: int,
    *,
    text: str,
) -> Figure:
    """One head at every snapshot, the chosen one framed.

    Args:
        weights: (R, Q, K), one matrix per snapshot.
        updates: (R) after how many updates each was taken. losses: (R) of the sentence.
        chosen: the snapshot that is framed, from 0.
        text: the title.
    """
    tiles = pooled(weights[:, None])[:, 0]  # (R, Q', K')
    count, q, k = tiles.shape
    lines = -(-count // ONE_LINE)
    per_line = -(-count // lines)
    gap_k, label = max(1, k // 8), max(1, round(q * LABEL / TALL))  # in cells
    high, wide = q + label, k + gap_k
    tiled = np.full((lines * high, per_line * wide - gap_k), np.nan, dtype=np.float32)
    corners = [(line * high + high - q, place * wide) for line, place in (divmod(n, per_line) for n in range(count))]
    for tile, (top, left) in zip(tiles, corners, strict=True):
        tiled[top : top + q, left : left + k] = tile
    x = np.array([left + (k - 1) / 2 for unused, left in corners], dtype=np.float32)
    middle = np.array([top + (q - 1) / 2 for top, unused in corners], dtype=np.float32)
    above = np.array([top - 0.5 - ABOVE * q / TALL for top, unused in corners], dtype=np.float32)
    hover = [
        _("update {update:,}<br>loss {loss:.3f}", update=update, loss=loss)
        for update, loss in zip(updates, losses, strict=True)
    ]
    data = [
        heat(tiled, weight_scale(), 0, 1, xgap=0, ygap=0),
        words(x, above, [formatted(update, ",") for update in updates], INK, 15),
        places(x, middle, hover, "%{text}<extra></extra>", 90, customdata=list(range(count))),
    ]
    top, left = corners[chosen]
    pad, pad_y = 0.03 * max(q, k), PAD * q / TALL
    layout: FigurePart = {
        "title": title(text),
        "height": 44 + lines * round(TALL * high / q),
        "margin": {"l": 6, "r": 6, "t": 34, "b": 10, "pad": 0},
        "dragmode": False,
        "plot_bgcolor": "rgba(0,0,0,0)",
        "shapes": [frame(left - 0.5 - pad, left + k - 0.5 + pad, top - 0.5 - pad_y, top + q - 0.5 + pad_y, 4)],
        "xaxis": BARE | {"showticklabels": False, "range": [-0.5 - 2 * pad, tiled.shape[1] - 0.5 + 2 * pad]},
        "yaxis": BARE | {"showticklabels": False, "range": [tiled.shape[0] - 0.5 + 2 * pad, -0.5]},
    }
    return Figure(data, layout)


def snapshot_alt(updates: Sequence[int], losses: Sequence[float], texts: Sequence[str], text: str) -> str:
    """What the picture says, in words."""
    entries = [
        _("update {update:,}: loss {loss:.3f}", update=update, loss=loss)
        for update, loss in zip(updates, losses, strict=True)
    ]
    return _(
        "{text}, a tile for each of {count} snapshots. {losses}. The last writes: {words}",
        text=text,
        count=len(updates),
        losses="; ".join(entries),
        words=texts[-1],
    )
