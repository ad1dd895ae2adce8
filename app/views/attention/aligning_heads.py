"""Which head aligns: the alignment error rate of each decoder layer and head, one heatmap whose cells can be clicked.

Beside the heads, a column apart, stands the mean of all heads of each layer. Colours say 1 - AER, so that a head that
aligns stands out as a strong weight does elsewhere; the numbers and the colour bar say the rate itself, in per cent.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from app.figures.charts import Figure, color_bar, plain_axis, settled
from app.figures.panels import frame, heat, places, words
from app.figures.theme import text_on_weight, weight_scale
from transformer.analysis.alignment.alignment_map import Head, Reading
from transformer.analysis.alignment.alignment_report import named, percent

CELL = 36  # px, height of a cell
APART = 1.4  # from the last head to the column of means, in cells
SMALL_FROM = 11  # heads
MEAN = -1  # the head in the custom data of a cell that stands for all heads of its layer


def head_map(found: Reading, chosen: Sequence[Head], *, title: str) -> Figure:
    """The map; the chosen heads are framed.

    A cell carries (layer, head), from 0, as its custom data; `MEAN` is the head of the column of means.
    """
    rates = np.array(found.aer)  # (L, H)
    layers, heads = rates.shape
    last = heads - 1 + APART
    x = np.array([*range(heads), last])  # (H + 1)
    all_rates = np.column_stack([rates, found.layers])  # (L, H + 1)
    rows, columns = (axis.ravel() for axis in np.indices(all_rates.shape))
    every = [(int(row), int(column) if column < heads else MEAN) for row, column in zip(rows, columns, strict=True)]
    scale = weight_scale()
    colors = [text_on_weight(1 - rate) for rate in all_rates.ravel()]
    size = 10 if heads >= SMALL_FROM else 14
    bar = color_bar([0, 0.5, 1]) | {"ticktext": ["100%", "50%", "0%"]}
    data = [
        heat(1 - rates, scale, 0, 1, x=x[:heads], y=np.arange(layers), showscale=True, colorbar=bar),
        heat(1 - all_rates[:, heads:], scale, 0, 1, x=np.array([last]), dx=1, y=np.arange(layers)),
        words(x[columns], rows, [f"{100 * rate:.0f}" for rate in all_rates.ravel()], colors, size),
        places(
            x[columns],
            rows,
            [_told(found, layer, head) for layer, head in every],
            "%{text}<extra></extra>",
            CELL,
            customdata=every,
        ),
    ]
    layout = settled(title, layers * CELL + 164, top=86, bottom=70) | {
        "xaxis": plain_axis(
            "head", [-0.6, last + 0.7], side="top", tickvals=x, ticktext=[*map(str, range(1, heads + 1)), "all"]
        ),
        "yaxis": plain_axis(
            "layer", [layers - 0.4, -0.6],
            tickvals=list(range(layers)), ticktext=[str(layer + 1) for layer in range(layers)],
        ),
        "shapes": [frame(head - 0.5, head + 0.5, layer - 0.5, layer + 0.5, 3) for layer, head in chosen],
    }  # fmt: skip
    return Figure(data, layout)


def head_map_alt(found: Reading, title: str) -> str:
    """The picture in words: its best heads."""
    best = ", ".join(f"{named((layer, head))} with {percent(found.aer[layer][head])}" for layer, head in found.best[:3])
    layers, heads = len(found.aer), len(found.aer[0])
    return f"{title}, of {layers} layers with {heads} heads each. Lowest: {best}. The list of heads chooses others."


def head_map_table(found: Reading) -> dict[str, list[Any]]:
    """A row a head, then a row for the mean of the heads of each layer; rates in per cent."""
    every = [(layer, head) for layer in range(len(found.aer)) for head in range(len(found.aer[0]))]
    layers = range(len(found.layers))
    return {
        "layer": [layer + 1 for layer, _ in every] + [layer + 1 for layer in layers],
        "head": [str(head + 1) for _, head in every] + ["all, their mean" for _ in layers],
        "AER %": [100 * found.aer[layer][head] for layer, head in every] + [100 * rate for rate in found.layers],
        "precision %": [100 * found.precision[layer][head] for layer, head in every] + [None for _ in layers],
        "recall %": [100 * found.recall[layer][head] for layer, head in every] + [None for _ in layers],
    }


def _told(found: Reading, layer: int, head: int) -> str:
    if head == MEAN:
        return f"Layer {layer + 1}, the mean of all heads<br>AER {percent(found.layers[layer])}%"
    return (
        f"Layer {layer + 1}, head {head + 1}<br>AER {percent(found.aer[layer][head])}%<br>precision "
        f"{percent(found.precision[layer][head])}%, recall {percent(found.recall[layer][head])}%"
    )
