"""The parts of a figure with panels of queries and keys: heatmaps, texts, cells to click, frames, axes of tokens.

Each part is a dictionary in Plotly's format. Panels count from 1, as Plotly counts axes.
"""

from collections.abc import Callable, Sequence
from math import radians, sin
from textwrap import wrap
from typing import Any

import numpy as np

from app.figures.axes import TokenAxis, plotly_text, ticks, visible
from app.figures.theme import CHOSEN, INK, role_color
from app.languages import _

Cell = tuple[int, int]
FigurePart = dict[str, Any]

BARE: FigurePart = {"showgrid": False, "zeroline": False, "fixedrange": True, "ticks": "", "tickmode": "array"}
SMALL_FROM = 54  # columns beside each other; if there are more, their names are small
LETTER = 7.5  # px, mean width of a letter in the title of an axis
MAX_PANEL_HEIGHT = 600  # px
TEXT_FROM = 10  # px of a row; lower ones have no text
BELOW: FigurePart = {  # a legend at the foot of the picture
    "orientation": "h", "x": 0, "xanchor": "left", "y": 0, "yanchor": "bottom", "yref": "container",
    "font": {"size": 14},
}  # fmt: skip

MOST_TEXTS = 2500  # of the cells of a heatmap


def on(panel: int) -> FigurePart:
    """The axes of a panel."""
    suffix = str(panel) if panel > 1 else ""
    return {"xaxis": f"x{suffix}", "yaxis": f"y{suffix}"}


def heat(z: np.ndarray, colorscale: object, low: float, high: float, panel: int = 1, **more: Any) -> FigurePart:
    """Cells with colours from `low` to `high`."""
    base = {"type": "heatmap", "z": z, "colorscale": colorscale, "zmin": low, "zmax": high, "showscale": False}
    return base | {"xgap": 1, "ygap": 1, "hoverinfo": "skip"} | on(panel) | more


def clickable(cells: FigurePart, texts: Callable[[], Sequence[str]], place: str = "%{y}<br>%{x}<br>") -> FigurePart:
    """A heatmap whose cells can be clicked (see chart.js) and show a text when the visitor points at them.

    Args:
        texts: gives a text for each cell, row by row. With more than MOST_TEXTS cells only the place is shown.
        place: the text before it, as a template of Plotly.
    """
    shape = np.shape(cells["z"])
    few = shape[0] * shape[1] <= MOST_TEXTS
    text = {"text": np.array(texts(), object).reshape(shape)} if few else {}
    hover = f"{place}%{{text}}<extra></extra>" if few else "%{y}<br>%{x}<extra></extra>"
    return cells | {"meta": {"clicks": True}, "hoverinfo": "all", "hovertemplate": hover} | text


def words(
    x: np.ndarray, y: np.ndarray, text: Sequence[str], color: object, size: int, panel: int = 1, **more: Any
) -> FigurePart:
    """A text in each of these cells."""
    base = {"type": "scatter", "mode": "text", "x": x, "y": y, "text": text, "textfont": {"size": size, "color": color}}
    return base | {"hoverinfo": "skip", "showlegend": False} | on(panel) | more


def places(x: object, y: object, text: Sequence[str], hover: str, size: int, panel: int = 1, **more: Any) -> FigurePart:
    """Invisible markers to point at and to click; `hover` is a template of Plotly."""
    base = {"type": "scatter", "mode": "markers", "x": x, "y": y, "text": text, "hovertemplate": hover}
    marker = {"symbol": "square", "size": size, "opacity": 0}
    return base | {"marker": marker, "showlegend": False} | on(panel) | more


def frame(x0: float, x1: float, y0: float, y1: float, width: float, panel: int = 1) -> FigurePart:
    """A frame around what is chosen."""
    axes = on(panel)
    box = {"type": "rect", "x0": x0, "x1": x1, "y0": y0, "y1": y1, "line": {"color": CHOSEN, "width": width}}
    return box | {"xref": axes["xaxis"], "yref": axes["yaxis"]}


def cell_frames(cell: Cell, columns: int, panel: int = 1) -> list[FigurePart]:
    """A thick frame around the chosen cell and a thin one around its row."""
    q, k = cell
    around = ((-0.5, columns - 0.5, 1.5), (k - 0.5, k + 0.5, 3.5))
    return [frame(x0, x1, q - 0.5, q + 0.5, width, panel) for x0, x1, width in around]


def grid(rows: int, columns: int) -> tuple[np.ndarray, np.ndarray]:
    """(q, k) of all cells, row by row."""
    q, k = np.divmod(np.arange(rows * columns, dtype=np.int16), columns)
    return q, k


def tick_height(axis: TokenAxis, size: int, angle: float = 45.0) -> int:
    """About how many px the tokens of an axis take when they are slanted."""
    longest = max(len(visible(token)) for token in axis.tokens)
    return int(12 + 0.6 * size * longest * sin(radians(angle)))


def slanted_overhang(axis: TokenAxis) -> int:
    """How many px the last token of an axis above a picture extends to the right, because tokens are slanted."""
    return 10 + 6 * min(len(axis.tokens[-1]), 10)


def wrap_title(title: FigurePart, height: int) -> None:
    """Breaks the title of a vertical axis into lines if it is longer than the axis."""
    text = title["text"]
    room = max(int(height / LETTER), *map(len, text.split()))
    title["text"] = "<br>".join(wrap(text, room, break_on_hyphens=False))


def panel_height(rows: int, row: int) -> int:
    """The px of a panel whose rows are `row` px high, or less if there are so many that it would be too high."""
    return max(min(rows * row, MAX_PANEL_HEIGHT), 40)


def panels_top(keys: TokenAxis, per_line: int) -> int:
    """The px above the panels: the title, the name of the panel, the tokens of the keys."""
    return 72 + tick_height(keys, 9 if len(keys) * per_line > SMALL_FROM else 12, 60)


def panel_axes(
    names: Sequence[str],
    queries: TokenAxis,
    keys: TokenAxis,
    *,
    per_line: int,
    across: float,
    between: float = 0.0,
) -> FigurePart:
    """The axes of all panels: keys above each with the panel's name, queries at the left of each line of panels.

    Args:
        across: the gap between panels of a line. between: between lines; both as a share of the picture.
    """
    lines = -(-len(names) // per_line)
    width, height = (1 - across * (per_line - 1)) / per_line, (1 - between * (lines - 1)) / lines
    small = len(keys) * per_line > SMALL_FROM
    key_ticks, query_ticks = ticks(keys.tokens), ticks(queries.tokens)
    found: FigurePart = {}
    for number, name in enumerate(names):
        suffix = str(number + 1) if number else ""
        line, place = divmod(number, per_line)
        left, top = place * (width + across), 1 - line * (height + between)
        found[f"xaxis{suffix}"] = BARE | {
            "side": "top",
            "domain": [left, min(left + width, 1)],
            "anchor": f"y{suffix}",
            "tickvals": list(range(len(keys))),
            "ticktext": key_ticks,
            "tickangle": -60,
            "tickfont": {"size": 9 if small else 12, "color": role_color(keys.role)},
            "title": {"text": f"<b>{plotly_text(name)}</b>", "font": {"size": 15, "color": INK}, "standoff": 6},
            "range": [-0.5, len(keys) - 0.5],
        }
        found[f"yaxis{suffix}"] = BARE | {
            "domain": [max(top - height, 0), top],
            "anchor": f"x{suffix}",
            "tickvals": list(range(len(queries))),
            "ticktext": query_ticks,
            "tickfont": {"size": 9 if len(queries) > 40 else 13, "color": role_color(queries.role)},
            "range": [len(queries) - 0.5, -0.5],
            "automargin": True,
            "showticklabels": place == 0,
        }
        if place == 0 and queries.predicts:
            title = {"text": _("reads"), "font": {"size": 13, "color": role_color(queries.role)}, "standoff": 4}
            found[f"yaxis{suffix}"]["title"] = title
    return found
