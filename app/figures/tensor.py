"""Any tensor of rows by dimensions as a heatmap, with its norms beside it: a row a token, a column a dimension.

Values are signed, so the colours diverge around 0 and the range is symmetric. Numbers stand in the cells where there is
room for them; hover, table and CSV have them all.
"""

import csv
import io

import numpy as np
import plotly.graph_objects as go

from app.figures.axes import TokenAxis, plotly_text, ticks
from app.theme import CELL_SIZE, SMALL_TICK_SIZE, TICK_SIZE, TITLE_SIZE, ink, role_color, signed_scale

NUMBERS_UP_TO = 24  # columns; beyond, digits would not be legible
ROW = 26  # px


def tensor_heatmap(
    values: np.ndarray,
    rows: TokenAxis,
    *,
    title: str,
    columns: str = "dimension",
    first: int = 0,
    row: int | None = None,
    limit: float | None = None,
    dark: bool = False,
) -> go.Figure:
    """values (R, C) of any computation, one row a token.

    Args:
        columns: what a column is.
        first: the number of the first column, where only some are shown.
        row: a row to frame, from 0.
        limit: the range is -limit to limit; None: the largest absolute value.
    """
    if values.shape[0] != len(rows):
        raise ValueError(f"values {values.shape} for {len(rows)} rows")
    finite = values[np.isfinite(values)]
    largest = limit if limit is not None else float(np.abs(finite).max()) if finite.size else 1.0
    drawn = np.where(np.isfinite(values), values, np.nan).astype(np.float32)  # (R, C)
    height, width = drawn.shape
    hover = f"%{{y}}<br>{plotly_text(columns)} %{{x}}<br>%{{z:.4f}}<extra></extra>"
    figure = go.Figure(
        go.Heatmap(
            z=drawn,
            x0=first,
            dx=1,
            colorscale=signed_scale(dark),
            zmin=-largest or -1.0,
            zmax=largest or 1.0,
            hoverongaps=False,
            hovertemplate=hover,
            colorbar={"thickness": 10, "outlinewidth": 0, "len": 1, "tickfont": {"size": 12}},
        )
    )
    if width <= NUMBERS_UP_TO and height <= 40:
        r, c = np.nonzero(np.isfinite(values))
        figure.add_scatter(
            x=(c + first).astype(np.int32),
            y=r.astype(np.int32),
            text=[number_text(float(v)) for v in values[r, c]],
            mode="text",
            textfont={
                "size": CELL_SIZE - 1,
                "color": [_ink_on(abs(float(v)) / (largest or 1), dark) for v in values[r, c]],
            },
            hoverinfo="skip",
            showlegend=False,
        )
    if row is not None:
        figure.add_shape(
            type="rect",
            x0=first - 0.5,
            x1=first + width - 0.5,
            y0=row - 0.5,
            y1=row + 0.5,
            line={"color": "#ff9a1f", "width": 3},
        )
    size = TICK_SIZE if height <= 40 else SMALL_TICK_SIZE
    figure.update_layout(
        title={
            "text": plotly_text(title),
            "font": {"size": TITLE_SIZE},
            "x": 0,
            "xanchor": "left",
            "y": 0.99,
            "yanchor": "top",
        },
        height=92 + max(height * (ROW if height <= 40 else 13), 50),
        margin={"l": 10, "r": 10, "t": 44, "b": 44, "pad": 2},
        plot_bgcolor="rgba(0,0,0,0)",
        dragmode=False,
        xaxis={
            "showgrid": False,
            "zeroline": False,
            "fixedrange": True,
            "title": {"text": plotly_text(columns), "font": {"size": 14, "color": ink(dark)}, "standoff": 4},
            "range": [first - 0.5, first + width - 0.5],
        },
        yaxis={
            "showgrid": False,
            "zeroline": False,
            "fixedrange": True,
            "tickmode": "array",
            "tickvals": list(range(height)),
            "ticktext": ticks(rows.tokens),
            "tickfont": {"size": size, "color": role_color(rows.role, dark)},
            "range": [height - 0.5, -0.5],
            "automargin": True,
            "ticks": "",
        },
    )
    return figure


def number_text(value: float) -> str:
    """A signed number as it stands in a cell: 0.12, -1.3, -24."""
    if value == 0:
        return "0"
    digits = 2 if abs(value) < 10 else 1 if abs(value) < 100 else 0
    text = f"{value:.{digits}f}"
    return text.removeprefix("-") if float(text) == 0 else text


def _ink_on(strength: float, dark: bool) -> str:
    """Both diverging maps are dark on light ground at their ends, and light on dark."""
    if dark:
        return "#000000" if strength > 0.75 else "#ffffff"
    return "#ffffff" if strength > 0.75 else "#000000"


def tensor_table(values: np.ndarray, rows: TokenAxis, columns: str = "dimension", first: int = 0) -> dict[str, object]:
    """The same numbers as columns of a table, the first of which names the rows."""
    return {"token": list(rows.names), **{f"{columns} {first + c}": values[:, c] for c in range(values.shape[1])}}


def tensor_csv(values: np.ndarray, rows: TokenAxis, columns: str = "dimension", first: int = 0) -> str:
    """The same numbers with all their digits. Names begin with a position, so that none can be a formula."""
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    writer.writerow(["token", *(f"{columns} {first + c}" for c in range(values.shape[1]))])
    for name, row in zip(rows.names, values, strict=True):
        writer.writerow([name, *(str(np.float32(v)) for v in row)])
    return buffer.getvalue()


def tensor_alt(values: np.ndarray, rows: TokenAxis, title: str) -> str:
    """What the picture says, in words: the length of each row."""
    norms = np.linalg.norm(np.where(np.isfinite(values), values, 0.0), axis=-1)
    said = "; ".join(f"{name}: length {norm:.2f}" for name, norm in zip(rows.names[:40], norms, strict=False))
    return f"{title}. {values.shape[0]} rows by {values.shape[1]} columns. {said}."
