"""What a figure is, and the titles, axes and colour bars that charts share, so that all pages look alike."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from app.figures.axes import plotly_text
from app.figures.theme import BACKGROUND, INK, TITLE_SIZE, themed

AXIS_SIZE = 14  # px, titles of axes
GRID = "rgba(128, 136, 150, 0.22)"
BAR_ROOM = 86  # px below the plot: ticks and title of the axis, then the colour bar
FAINT = "rgba(128, 136, 150, 0.55)"
_QUIET, _LINE = themed("#5c6675", "#a9b2c0"), themed("#dde3ec", "#2d3745")


@dataclass
class Figure:
    """What Plotly should draw, as plain data.

    It is not Plotly's own `Figure`, which checks every value when it is set: that took half of the server's time for a
    page. The tests do that check: they make a Plotly `Figure` of every figure (tests/support/drawn.py).
    """

    data: list[dict[str, Any]]  # traces; numbers as arrays
    layout: dict[str, Any]


def line_at(*, x: float | None = None, y: float | None = None, line: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A shape: a vertical line through the whole picture at x, or a horizontal one at y."""
    if y is None:
        ends = {"x0": x, "x1": x, "xref": "x", "y0": 0, "y1": 1, "yref": "y domain"}
    else:
        ends = {"x0": 0, "x1": 1, "xref": "x domain", "y0": y, "y1": y, "yref": "y"}
    return {"type": "line", "line": line} | ends | more


def band(x0: float, x1: float, **more: Any) -> dict[str, Any]:
    """A shape: all of the picture between two places on the x axis."""
    return {"type": "rect", "x0": x0, "x1": x1, "xref": "x", "y0": 0, "y1": 1, "yref": "y domain"} | more


def title(text: str) -> dict[str, Any]:
    """A title at the top left. Its text is shown as it is, not as markup."""
    return {
        "text": plotly_text(text),
        "font": {"size": TITLE_SIZE},
        "x": 0,
        "xanchor": "left",
        "y": 0.99,
        "yanchor": "top",
    }


def axis(text: str, limits: Sequence[float] | None = None, **more: Any) -> dict[str, Any]:
    """An axis with a title and a faint grid, which does not zoom."""
    found: dict[str, Any] = {
        "title": {"text": plotly_text(text), "font": {"size": AXIS_SIZE, "color": INK}, "standoff": 8},
        "tickfont": {"size": 14},
        "gridcolor": GRID,
        "zeroline": False,
        "fixedrange": True,
        "automargin": True,
    }
    if limits is not None:
        found["range"] = list(limits)
    return found | more


def plain_axis(text: str, limits: Sequence[float], **more: Any) -> dict[str, Any]:
    """An axis of a heatmap: no grid."""
    return axis(text, limits, showgrid=False, ticks="", **more)


def color_bar(ticks: Sequence[float] | None = None) -> dict[str, Any]:
    """A thin colour bar at the bottom left of the picture. `chart_layout(..., bottom=BAR_ROOM)` leaves room for it."""
    bar: dict[str, Any] = {
        "orientation": "h", "thickness": 8, "len": 220, "lenmode": "pixels", "x": 0, "xanchor": "left", "xpad": 0,
        "y": 0, "yref": "container", "yanchor": "bottom", "ypad": 4, "outlinewidth": 0,
    }  # fmt: skip
    return bar | ({"tickvals": list(ticks)} if ticks is not None else {})


def chart_layout(text: str, height: int, *, top: int = 44, bottom: int = 50, right: int = 16) -> dict[str, Any]:
    """A layout with title, height and margins; a legend is above the picture, at the right."""
    return {
        "title": title(text),
        "height": height,
        "margin": {"l": 10, "r": right, "t": top, "b": bottom, "pad": 2},
        "dragmode": False,
        "plot_bgcolor": "rgba(0,0,0,0)",
        "legend": {"orientation": "h", "x": 1, "xanchor": "right", "y": 1.0, "yanchor": "bottom", "font": {"size": 14}},
    }


def chart_template() -> dict[str, Any]:
    """What all charts have unless they set it themselves, as a template of Plotly."""
    text = {"color": _QUIET, "size": 14}
    axis = {
        "automargin": True,
        "ticklabeloverflow": "allow",  # else the browser measures all labels of all axes at each drawing
        "gridcolor": _LINE,
        "zerolinecolor": _LINE,
        "tickcolor": _LINE,
        "tickfont": text,
        "title": {"font": {"color": _QUIET, "size": 14}},
    }
    return {
        "layout": {
            "font": text,
            "title": {"font": {"color": INK, "size": TITLE_SIZE, "weight": 600}, "x": 0, "xanchor": "left"},
            "paper_bgcolor": "rgba(0,0,0,0)",
            "plot_bgcolor": "rgba(0,0,0,0)",
            "xaxis": axis | {"showgrid": False, "zeroline": False},
            "yaxis": axis,
            "legend": {"font": {"color": INK}},
            "hoverlabel": {"bgcolor": BACKGROUND, "bordercolor": _LINE, "font": {"color": INK, "size": 14}},
            "margin": {"l": 0, "r": 0},
        },
        "data": {"heatmap": [{"colorbar": {"outlinewidth": 0, "tickfont": text}}]},
    }
