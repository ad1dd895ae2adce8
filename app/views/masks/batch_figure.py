"""A batch as the rectangle that it is: one line per sentence, padded on the right to the length of the longest."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from app.figures.axes import in_words, plotly_text
from app.figures.charts import Figure, chart_layout
from app.figures.panels import BARE, heat, places, words
from app.figures.theme import INK, faded, mask_color, role_color
from app.languages import _

TEXT_UP_TO = 26  # columns; beyond, a token does not fit into its cell


@dataclass(frozen=True)
class Line:
    """One sentence in the batch: its name, its stack, its tokens with padding, and how many are not padding."""

    name: str
    role: str  # "encoder" or "decoder"
    tokens: tuple[str, ...]
    real: int


def batch_figure(lines: Sequence[Line], *, title: str) -> Figure:
    """What the encoder and the decoder read, position by position; padding is grey."""
    columns = max(len(line.tokens) for line in lines)
    z = np.full((len(lines), columns), np.nan, dtype=np.float32)  # lines, positions
    x, y, text, hover = [], [], [], []
    for i, line in enumerate(lines):
        for j, token in enumerate(line.tokens):
            z[i, j] = 0 if j >= line.real else 1 if line.role == "encoder" else 2
            shown = in_words(token)
            x.append(j)
            y.append(i)
            text.append(plotly_text(shown))
            place = _("{name}, token {number}", name=line.name, number=j + 1)
            hover.append(f"{place}<br>{plotly_text(shown)}")
    colors = [mask_color("padding"), faded(role_color("encoder"), 0.28), faded(role_color("decoder"), 0.28)]
    scale = [(edge / 3, color) for i, color in enumerate(colors) for edge in (i, i + 1)]
    template = "%{hovertext}<extra></extra>"
    at = np.array(x, dtype=np.int16), np.array(y, dtype=np.int16)
    if columns <= TEXT_UP_TO:
        cells = {"columns": columns, "beside": 130, "cut": True}  # see chart.js
        tokens = words(*at, text, INK, 14, meta=cells, hovertext=hover, hovertemplate=template, hoverinfo="all")
    else:
        tokens = places(*at, [], template, 14, hovertext=hover)
    data = [heat(z, scale, -0.5, 2.5, xgap=2, ygap=4), tokens]
    every = max(1, columns // 30)
    layout = chart_layout(title, 64 + 32 * len(lines), top=54, bottom=8) | {
        "xaxis": BARE
        | {
            "side": "top",
            "tickvals": list(range(0, columns, every)),
            "ticktext": [str(j + 1) for j in range(0, columns, every)],
            "tickfont": {"size": 12, "color": INK},
            "range": [-0.5, columns - 0.5],
        },
        "yaxis": BARE
        | {
            "tickvals": list(range(len(lines))),
            "ticktext": [plotly_text(line.name) for line in lines],
            "tickfont": {"size": 14, "color": INK},
            "range": [len(lines) - 0.5, -0.5],
            "automargin": True,
        },
    }
    return Figure(data, layout)


def batch_table(lines: Sequence[Line]) -> dict[str, list[str]]:
    """The same as a table, one column per position."""
    columns = max(len(line.tokens) for line in lines)
    return {_("reads"): [line.name for line in lines]} | {
        str(j + 1): [line.tokens[j] if j < len(line.tokens) else "" for line in lines] for j in range(columns)
    }


def batch_alt(lines: Sequence[Line], title: str) -> str:
    """What the picture says, in words."""
    entries = [
        _(
            "{name}: {tokens} tokens and {padding} of padding: {words}",
            name=line.name,
            tokens=line.real,
            padding=len(line.tokens) - line.real,
            words=" ".join(line.tokens[:40]),
        )
        for line in lines
    ]
    return f"{title}. " + "; ".join(entries) + "."
