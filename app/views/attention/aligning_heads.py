"""Which heads align words: a heatmap of the alignment error rate (AER) of each decoder layer and head.

Its cells can be clicked. A separate column at the right has the mean of all heads of each layer. Colours show 1 - AER,
so a head with a low rate is as dark as a large weight in other pictures. The numbers and the colour bar show the rate
itself, in per cent.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from app.figures.charts import Figure, chart_layout, color_bar, plain_axis
from app.figures.panels import frame, heat, places, words
from app.figures.theme import text_on_weight, weight_scale
from app.languages import _
from app.languages.numbers import formatted
from transformer.analysis.alignment.alignment_map import Head, ShiftRates
from transformer.analysis.alignment.alignment_report import named

CELL = 36  # px, height of a cell
APART = 1.4  # from the last head to the column of means, in cells
SMALL_FROM = 11  # heads: with so many or more, the numbers are small
MEAN = -1  # in place of a head: the mean of all heads of the layer


def head_map(found: ShiftRates, chosen: Sequence[Head], *, title: str) -> Figure:
    """The map; the chosen heads are framed.

    The custom data of a cell are (layer, head), from 0; the head is `MEAN` in the column of means.
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
    bar = color_bar([0, 0.5, 1]) | {"ticktext": [formatted(rate, ".0%") for rate in (1, 0.5, 0)]}
    data = [
        heat(1 - rates, scale, 0, 1, x=x[:heads], y=np.arange(layers), showscale=True, colorbar=bar),
        heat(1 - all_rates[:, heads:], scale, 0, 1, x=np.array([last]), dx=1, y=np.arange(layers)),
        words(x[columns], rows, [formatted(100 * rate, ".0f") for rate in all_rates.ravel()], colors, size),
        places(
            x[columns],
            rows,
            [_hover_text(found, layer, head) for layer, head in every],
            "%{text}<extra></extra>",
            CELL,
            customdata=every,
        ),
    ]
    layout = chart_layout(title, layers * CELL + 164, top=86, bottom=70) | {
        "xaxis": plain_axis(
            _("head"), [-0.6, last + 0.7], side="top", tickvals=x, ticktext=[*map(str, range(1, heads + 1)), _("all")]
        ),
        "yaxis": plain_axis(
            _("layer"), [layers - 0.4, -0.6],
            tickvals=list(range(layers)), ticktext=[str(layer + 1) for layer in range(layers)],
        ),
        "shapes": [frame(head - 0.5, head + 0.5, layer - 0.5, layer + 0.5, 3) for layer, head in chosen],
    }  # fmt: skip
    return Figure(data, layout)


def head_map_alt(found: ShiftRates, title: str) -> str:
    """The picture in words: its best heads."""
    best = ", ".join(
        _("head {head} with an AER of {rate}%", head=named((layer, head)), rate=percent_text(found.aer[layer][head]))
        for layer, head in found.best[:3]
    )
    return _(
        "{title}, of {layers} layers with {heads} heads each. Lowest: {best}. The list of heads chooses others.",
        title=title,
        layers=len(found.aer),
        heads=len(found.aer[0]),
        best=best,
    )


def head_map_table(found: ShiftRates) -> dict[str, list[Any]]:
    """One row per head, then one per layer for the mean of its heads; rates in per cent."""
    every = [(layer, head) for layer in range(len(found.aer)) for head in range(len(found.aer[0]))]
    layers = range(len(found.layers))
    return {
        _("layer"): [layer + 1 for layer, head in every] + [layer + 1 for layer in layers],
        _("head"): [str(head + 1) for layer, head in every] + [_("all, their mean")] * len(layers),
        _("AER %"): [100 * found.aer[layer][head] for layer, head in every] + [100 * rate for rate in found.layers],
        _("precision %"): [100 * found.precision[layer][head] for layer, head in every] + [None] * len(layers),
        _("recall %"): [100 * found.recall[layer][head] for layer, head in every] + [None] * len(layers),
    }


def _hover_text(found: ShiftRates, layer: int, head: int) -> str:
    if head == MEAN:
        rate = percent_text(found.layers[layer])
        return _("Layer {layer}, the mean of all heads<br>AER {rate}%", layer=layer + 1, rate=rate)
    return _(
        "Layer {layer}, head {head}<br>AER {rate}%<br>precision {precision}%, recall {recall}%",
        layer=layer + 1,
        head=head + 1,
        rate=percent_text(found.aer[layer][head]),
        precision=percent_text(found.precision[layer][head]),
        recall=percent_text(found.recall[layer][head]),
    )


def percent_text(share: float) -> str:
    """A rate in per cent, without the sign: 0.4502 -> 45.0."""
    return formatted(100 * share, ".1f")
