"""Heads are slices of one matrix (paper, section 3.2.2): W^Q = [W_1^Q ... W_h^Q], side by side, d_k columns each.

The whole matrix is drawn in 255 steps of colour, which is what a screen has, and without numbers: these are in the
slice beside it and in the table. Colours end at three times the root mean square, because otherwise a few large weights
would make all others pale, or at the largest if that is smaller; the page says how many are beyond.
"""

import re
from typing import Any

import numpy as np

from app.figures.charts import BAR_ROOM, Figure, chart_layout, color_bar, plain_axis
from app.figures.theme import CHOSEN, INK, Role, color_limit, number, role_color, signed_scale
from app.languages import _, pgettext

WHOLE_UP_TO = 256  # d_model; a wider matrix has more numbers than a projector has dots
MOST_NUMBERS = 32_768  # of a slice in one picture
STEPS = 127  # of colour, on either side of 0
HEIGHT = 470
PLAIN = {"query": "W^Q", "key": "W^K", "value": "W^V", "output": "W^O"}


def slice_of(matrix: np.ndarray, name: str, head: int, heads: int) -> np.ndarray:
    """The part of W (D, D) that belongs to one head: columns (D, E), or for W^O rows (E, D)."""
    width = len(matrix) // heads
    own = slice(head * width, (head + 1) * width)
    return matrix[own] if name == "output" else matrix[:, own]


def slice_lengths(matrix: np.ndarray, name: str, heads: int) -> np.ndarray:
    """The Frobenius norm of each head's slice: (H), in float64."""
    parts = (slice_of(matrix, name, head, heads).astype(np.float64) for head in range(heads))
    return np.array([np.linalg.norm(part) for part in parts])


def share_beyond(matrix: np.ndarray) -> float:
    """The share of numbers that are beyond the end of the colours."""
    return float(np.mean(np.abs(matrix) > color_limit(matrix)))


def difference(x: np.ndarray, part: np.ndarray, bias: np.ndarray | float, recorded: np.ndarray) -> float:
    """The largest absolute difference between x times the slice, plus its bias, and what the model recorded."""
    found = x.astype(np.float64) @ part.astype(np.float64) + bias
    return float(np.abs(found - recorded).max())


def slices_map(matrix: np.ndarray, name: str, head: int, heads: int, *, title: str) -> Figure:
    """W (D, D) with the borders of its heads, the chosen one framed, and beside it how long each head's slice is.

    A matrix wider than `WHOLE_UP_TO` is not drawn: then only the lengths are drawn.
    """
    width, rows, whole = len(matrix) // heads, name == "output", len(matrix) <= WHOLE_UP_TO
    edges = np.arange(heads + 1) * width - 0.5
    middles = ((edges[1:] + edges[:-1]) / 2).astype(np.float32)
    along, across = ("y", "x") if rows else ("x", "y")  # heads follow each other along this axis
    color = INK if rows else role_color(_role(name))
    lengths = slice_lengths(matrix, name, heads)
    bars = {
        "type": "bar",
        "orientation": "h" if rows else "v",
        along: middles,
        across: lengths.astype(np.float32),
        f"{across}axis": f"{across}2",
        "width": 0.84 * width,
        "marker": {"color": color, "opacity": [1.0 if i == head else 0.45 for i in range(heads)]},
        "customdata": list(range(1, heads + 1)),
        "hovertemplate": _(
            "head {head}<br>length of its slice {length}", head="%{customdata}", length=f"%{{{across}:.4f}}"
        )
        + "<extra></extra>",
        "showlegend": False,
    }
    limits = [edges[-1], edges[0]] if rows else [edges[0], edges[-1]]
    step = -(-heads // 16)
    shown = {"tickvals": middles[::step], "ticktext": [str(i + 1) for i in range(0, heads, step)]}
    each = _("head: {width} rows each", width=width) if rows else _("head: {width} columns each", width=width)
    heads_axis = plain_axis(each, limits, **shown)
    other_axis = plain_axis(
        _dimension("output" if rows else "input"),
        [-0.5, len(matrix) - 0.5] if rows else [len(matrix) - 0.5, -0.5],
        nticks=9,
    )
    strip = plain_axis(_("length"), [0, 1.05 * float(lengths.max()) or 1.0], nticks=3)
    if whole:
        other_axis["domain"], strip["domain"] = ([0, 0.86], [0.89, 1]) if rows else ([0, 0.82], [0.86, 1])
    strip["anchor"] = along
    layout = _settled(title, HEIGHT if whole else 300)
    layout |= {f"{along}axis": heads_axis, f"{across}axis": other_axis, f"{across}axis2": strip, "bargap": 0}
    if not whole:
        return Figure([bars], layout | {f"{across}axis": {"visible": False}})
    limit = color_limit(matrix)
    picture = {
        "type": "heatmap",
        "z": np.rint(np.clip(matrix / limit, -1, 1) * STEPS).astype(np.int8),
        "zmin": -STEPS,
        "zmax": STEPS,
        "colorscale": signed_scale(),
        "hoverinfo": "skip",
        "colorbar": _bar(limit, STEPS),
    }
    lines = [
        {"type": "line", f"{along}0": edge, f"{along}1": edge, f"{across}0": -0.5, f"{across}1": len(matrix) - 0.5}
        | {"line": {"color": INK, "width": 1.2}}
        for edge in edges[1:-1]
    ]
    chosen = {"type": "rect", f"{along}0": edges[head], f"{along}1": edges[head + 1]}
    chosen |= {f"{across}0": -0.5, f"{across}1": len(matrix) - 0.5, "line": {"color": CHOSEN, "width": 3.5}}
    return Figure([picture, bars], layout | {"shapes": [*lines, chosen]})


def slice_picture(part: np.ndarray, name: str, *, limit: float, first: int = 0, title: str) -> Figure:
    """A head's slice with its true numbers.

    Args:
        part: (R, E), some rows of the slice from `first` on; of W^O (E, C), some columns.
        limit: where the colours end.
    """
    rows, columns = part.shape
    down, right = (0, first) if name == "output" else (first, 0)
    x, y = ("output", "context") if name == "output" else (name, "input")
    picture = {
        "type": "heatmap",
        "z": np.ascontiguousarray(part, np.float32),
        "x0": right,
        "y0": down,
        "zmin": -limit,
        "zmax": limit,
        "colorscale": signed_scale(),
        "hovertemplate": f"{_dimension(y, '%{y}')}<br>{_dimension(x, '%{x}')}<br>%{{z:.5f}}<extra></extra>",
        "colorbar": _bar(limit, limit),
    }
    layout = _settled(title, HEIGHT) | {
        "xaxis": plain_axis(_dimension(x), [right - 0.5, right + columns - 0.5], nticks=9),
        "yaxis": plain_axis(_dimension(y), [down + rows - 0.5, down - 0.5], nticks=9),
    }
    return Figure([picture], layout)


def window(length: int, width: int) -> int:
    """Of a slice of `length` by `width`, how many lines one picture shows."""
    return min(length, max(MOST_NUMBERS // width, 1))


def matrix_table(
    values: np.ndarray, rows: str, columns: str, *, down: int = 0, right: int = 0
) -> dict[str, np.ndarray]:
    """One row per row of the matrix, one column per column, numbered from `down` and from `right`."""
    table = {rows: np.arange(down, down + len(values))}
    return table | {f"{columns} {right + i}": values[:, i] for i in range(values.shape[1])}


def lengths_table(matrix: np.ndarray, name: str, heads: int) -> dict[str, np.ndarray]:
    """One row per head."""
    return {_("head"): np.arange(1, heads + 1), _("length of its slice"): slice_lengths(matrix, name, heads)}


def _settled(title: str, height: int) -> dict[str, Any]:
    """A layout. In its title, the letter after W^ is raised."""
    layout = chart_layout(title, height, bottom=BAR_ROOM)
    layout["title"]["text"] = re.sub(r"\bW\^([QKVO])\b", r"W<sup>\1</sup>", layout["title"]["text"])
    return layout


def _dimension(of: str, number: str = "") -> str:
    """A dimension of one of the vectors, as the title of an axis or with its number."""
    what = {
        "input": pgettext("dimension of", "the input"),
        "output": pgettext("dimension of", "the output"),
        "context": pgettext("dimension of", "the head's context"),
        "query": pgettext("dimension of", "the head's query"),
        "key": pgettext("dimension of", "the head's key"),
        "value": pgettext("dimension of", "the head's value"),
    }[of]
    return (
        _("dimension {number} of {what}", number=number, what=what) if number else _("dimension of {what}", what=what)
    )


def _role(name: str) -> Role:
    return "query" if name == "query" else "key" if name == "key" else "value"


def _bar(limit: float, at: float) -> dict[str, Any]:
    end = number(limit, 2)
    return color_bar([-at, 0, at]) | {"ticktext": [_("−{end} or less", end=end), "0", _("{end} or more", end=end)]}
