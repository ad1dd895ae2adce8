"""The masks of a batch at a glance: one line per sentence, one column per kind of attention, one tiled heatmap."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from app.figures.axes import plotly_text
from app.figures.charts import Figure, chart_layout
from app.figures.mask_matrix import FORBIDDEN_BY_EDIT, LAST, PARTS, reason_legend, reason_scale, reasons
from app.figures.mask_reasons import EDIT, Parts
from app.figures.panels import BARE, BELOW, Cell, frame, heat, places
from app.figures.theme import INK
from app.languages import _, gettext_noop
from transformer.analysis.batch_masks import Part

GAP = LAST + 1  # the value of the cells between tiles; `reasons` has smaller ones
FORBIDDEN: dict[Part, str] = {
    "padding": gettext_noop("forbidden by padding mask"),
    "causal": gettext_noop("forbidden by causal mask"),
    "window": gettext_noop("forbidden by attention window"),
}


@dataclass(frozen=True)
class Tile:
    """One mask of the overview: its kind of attention and its sentence, the mask of the model, and its parts."""

    kind: str
    sentence: str
    mask: np.ndarray
    parts: Parts


def overview_figure(tiles: Sequence[Sequence[Tile]], chosen: Cell, *, title: str) -> Figure:
    """The masks of all sentences (lines) and kinds of attention (columns) as one tiled heatmap.

    Args:
        tiles: one line per sentence, one tile per kind of attention.
        chosen: the framed tile: (sentence, kind), from 0.
    """
    heights = [max(tile.mask.shape[0] for tile in line) for line in tiles]
    widths = [tiles[0][j].mask.shape[1] for j in range(len(tiles[0]))]
    gap = max(2, max(widths) // 8)
    tops = np.cumsum([0, *[height + gap for height in heights]])
    lefts = np.cumsum([0, *[width + gap for width in widths]])
    drawn = np.full((int(tops[-1]) - gap, int(lefts[-1]) - gap), GAP, dtype=np.int8)
    x, y, chosen_by, text = [], [], [], []
    for i, line in enumerate(tiles):
        for j, tile in enumerate(line):
            rows, columns = tile.mask.shape
            drawn[tops[i] : tops[i] + rows, lefts[j] : lefts[j] + columns] = reasons(tile.mask, tile.parts)
            x.append(float(lefts[j]) + (columns - 1) / 2)
            y.append(float(tops[i]) + (rows - 1) / 2)
            chosen_by.append((i, j))
            text.append(
                _(
                    "{kind}, {sentence}: {allowed} of {cells} cells may attend",
                    kind=tile.kind,
                    sentence=tile.sentence,
                    allowed=int(tile.mask.sum()),
                    cells=tile.mask.size,
                )
            )
            if (i, j) == chosen:
                box = frame(lefts[j] - 1, lefts[j] + columns, tops[i] - 1, tops[i] + rows, 4)
    colors = [color for unused, color in reason_scale()[::2]] + ["rgba(0, 0, 0, 0)"]
    scale = [(edge / len(colors), color) for i, color in enumerate(colors) for edge in (i, i + 1)]
    data = [
        heat(drawn, scale, -0.5, GAP + 0.5, xgap=0, ygap=0),
        places(x, y, [plotly_text(name) for name in text], "%{text}<extra></extra>", 90, customdata=chosen_by),
        *reason_legend([drawn]),
    ]
    layout = {
        "xaxis": BARE
        | {
            "side": "top",
            "tickvals": [float(lefts[j]) + (widths[j] - 1) / 2 for j in range(len(widths))],
            "ticktext": [plotly_text(tile.kind) for tile in tiles[0]],
            "tickfont": {"size": 14, "color": INK},
            "range": [-1.8, drawn.shape[1] + 0.8],
        },
        "yaxis": BARE
        | {
            "tickvals": [float(tops[i]) + (heights[i] - 1) / 2 for i in range(len(heights))],
            "ticktext": [plotly_text(line[0].sentence) for line in tiles],
            "tickfont": {"size": 14, "color": INK},
            "range": [drawn.shape[0] + 0.8, -1.8],
            "automargin": True,
        },
        "shapes": [box],
        "showlegend": True,
        "legend": BELOW,
    }
    return Figure(data, chart_layout(title, 350, top=70, bottom=44) | layout)


def overview_table(tiles: Sequence[Sequence[Tile]]) -> Mapping[str, list[str] | list[int]]:
    """The overview in numbers: how many cells may attend, and how many each part forbids."""
    flat = [tile for line in tiles for tile in line]
    table: dict[str, list[str] | list[int]] = {
        _("sentence"): [tile.sentence for tile in flat],
        _("attention"): [tile.kind for tile in flat],
        _("cells"): [int(tile.mask.size) for tile in flat],
        _("may attend"): [int(tile.mask.sum()) for tile in flat],
    }
    for name in PARTS:
        table[_(FORBIDDEN[name])] = [
            int((~tile.mask & ~tile.parts[name]).sum()) if name in tile.parts else 0 for tile in flat
        ]
    by_edit = [int((reasons(tile.mask, tile.parts) == FORBIDDEN_BY_EDIT).sum()) for tile in flat]
    return table | ({_(EDIT[False]): by_edit} if any(by_edit) else {})
