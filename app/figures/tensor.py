"""Any tensor of rows by dimensions as a heatmap: one row per token, one column per dimension.

Values are signed, so the colours diverge around 0 and the range is symmetric. Numbers are written in the cells where
there is room for them; hover, table and CSV have them all.
"""

from collections.abc import Sequence

import numpy as np

from app.figures.axes import TokenAxis, plotly_text, ticks, visible
from app.figures.charts import Figure, chart_layout, plain_axis
from app.figures.panels import FigurePart, frame, words
from app.figures.theme import (
    CELL_SIZE,
    SMALL_TICK_SIZE,
    TICK_SIZE,
    fixed,
    role_color,
    signed_scale,
    text_on_signed,
)
from app.languages import _, gettext_noop

NUMBERS_UP_TO = 12  # columns; beyond, digits would not be legible
LARGE_UP_TO = 40  # rows; if there are more, type and cells are smaller
COLOR_BAR = 60  # px at the right of the cells
WITHOUT_COLOR = "#7d8594"  # of a number on a cell without a colour


def tensor_heatmap(
    values: np.ndarray,
    rows: TokenAxis,
    *,
    title: str,
    columns: str = gettext_noop("dimension"),
    first: int = 0,
    row: int,
    limit: float | None = None,
) -> Figure:
    """values (R, C) of any computation, one row per token.

    Args:
        columns: what a column is; marked for translation.
        first: the number of the first column, where only some are shown.
        row: the row to frame, from 0.
        limit: the range is -limit to limit; None: the largest absolute value.
    """
    if values.shape[0] != len(rows):
        raise ValueError(f"values {values.shape} for {len(rows)} rows")
    finite = np.isfinite(values)
    largest = (limit if limit is not None else float(np.abs(values[finite]).max()) if finite.any() else 1.0) or 1.0
    drawn = np.where(finite, values, np.nan).astype(np.float32)  # (R, C)
    height, width = drawn.shape
    large = height <= LARGE_UP_TO
    data: list[FigurePart] = [
        {
            "type": "heatmap",
            "z": drawn,
            "x0": first,
            "dx": 1,
            "colorscale": signed_scale(),
            "zmin": -largest,
            "zmax": largest,
            "hoverongaps": False,
            "hovertemplate": f"%{{y}}<br>{plotly_text(_(columns))} %{{x}}<br>%{{z:.4f}}<extra></extra>",
            "colorbar": {"thickness": 10, "outlinewidth": 0, "len": 1, "tickfont": {"size": 12}},
        }
    ]
    numbers = width <= NUMBERS_UP_TO
    tick_size, row_height = (TICK_SIZE, 24) if large else (SMALL_TICK_SIZE, 17 if numbers else 12)  # px
    if numbers:
        beside = label_width(rows.tokens, tick_size) + COLOR_BAR
        data.append(numbers_in_cells(values, largest, beside, first=first, size=13 if large else 11))
    layout = chart_layout(title, 96 + max(height * row_height, 50), bottom=48) | {
        "xaxis": plain_axis(_(columns), [first - 0.5, first + width - 0.5]),
        "yaxis": plain_axis(
            _("reads") if rows.predicts else "",
            [height - 0.5, -0.5],
            tickvals=list(range(height)),
            ticktext=ticks(rows.tokens),
            tickfont={"size": tick_size, "color": role_color(rows.role)},
        ),
        "shapes": [frame(first - 0.5, first + width - 0.5, row - 0.5, row + 0.5, 3)],
    }
    return Figure(data, layout)


def label_width(tokens: Sequence[str], size: int) -> float:
    """About how many px the tokens at the left of a picture take."""
    return 35 + 0.55 * size * max(len(visible(token)) for token in tokens)


def numbers_in_cells(
    values: np.ndarray, largest: float, beside: float, *, first: int = 0, size: int = CELL_SIZE - 1
) -> FigurePart:
    """The number of each cell of values (R, C) that is not NaN; ±∞ is included. If the cells are too narrow, the
    browser writes the numbers with fewer digits, or none of them.

    Args:
        largest: the colours go from -largest to largest.
        beside: px of the picture's width that are not cells.
        first: the number of the first column.
    """
    r, c = np.nonzero(~np.isnan(values))
    shown = [float(v) for v in values[r, c]]
    inks = [text_on_signed(abs(v) / largest) if np.isfinite(v) else WITHOUT_COLOR for v in shown]
    room = {"columns": values.shape[1], "beside": beside, "short": [number_text(v, short=True) for v in shown]}
    texts = [number_text(v) for v in shown]
    return words((c + first).astype(np.int32), r.astype(np.int32), texts, inks, size, meta=room)  # see chart.js


def row_norms(values: np.ndarray) -> np.ndarray:
    """The Euclidean length of each row: (R, C) -> (R,), in float64; cells that are not finite count as 0."""
    lengths: np.ndarray = np.linalg.norm(np.where(np.isfinite(values), values, 0.0).astype(np.float64), axis=-1)
    return lengths


def number_text(value: float, short: bool = False) -> str:
    """A signed number as it is written in a cell: 0.12, −13.4, −240, −∞. With `short`, it has one decimal fewer."""
    if np.isinf(value):
        return "∞" if value > 0 else "−∞"
    if value == 0:
        return "0"
    digits = max((2 if abs(value) < 10 else 1 if abs(value) < 100 else 0) - short, 0)
    return fixed(value, digits)


def tensor_table(
    values: np.ndarray, rows: TokenAxis, columns: str = gettext_noop("dimension")
) -> dict[str, list[str] | np.ndarray]:
    """The same numbers as columns of a table, the first of which names the rows."""
    return {_("token"): list(rows.names), **{f"{_(columns)} {c}": values[:, c] for c in range(values.shape[1])}}


def tensor_alt(values: np.ndarray, rows: TokenAxis, title: str) -> str:
    """What the picture says, in words: the length of each row."""
    lengths = row_norms(values)
    entries = (
        _("{name}: length {length:.2f}", name=name, length=length)
        for name, length in zip(rows.names[:40], lengths, strict=False)
    )
    return _(
        "{title}. {rows} rows by {columns} columns. {lengths}.",
        title=title,
        rows=values.shape[0],
        columns=values.shape[1],
        lengths="; ".join(entries),
    )
