"""Figures drawn by Plotly. A figure that changes is updated in place.

`st.plotly_chart` is not used, because it treats a changed figure as another chart: it removes the drawn chart, draws
three times until the new one is complete, and forgets what was clicked. Here the drawn chart only gets what changed.
"""

import base64
import json
import math
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from app.components.registration import component, sent
from app.figures.charts import Figure, chart_template

_component = component(
    "chart", html="<div class='chart'></div>", isolated=False
)  # Plotly writes its styles into the page

NUMBERS = {"i1", "u1", "i2", "u2", "i4", "u4", "f4", "f8"}  # dtypes that Plotly reads
WIDER = {"i8": "f8", "u8": "f8", "f2": "f4"}  # dtypes that Plotly does not read, and what they become


class Point(NamedTuple):
    """What was clicked: its place on the axes, and the `customdata` that the figure gave it."""

    x: float
    y: float
    customdata: Any


def chart(figure: Figure, *, key: str, alt: str, on_click: Callable[[Point], None] | None = None) -> None:
    """Draws a figure as wide as its place; the figure's layout sets the height.

    Args:
        key: must be unique on the page. A chart with the same key is the same chart, drawn again.
        alt: what the picture says, in words.
        on_click: is called with the clicked point of a scatter or bar trace. A heatmap reports clicks only if it has
            `meta={"clicks": True}`, or if `panels.places` (invisible markers) are drawn on top of it.
    """

    def clicked() -> None:
        found = sent(key, "clicked")
        if on_click and isinstance(found, dict):
            on_click(Point(found["x"], found["y"], found["customdata"]))

    drawn = {"data": figure.data, "layout": {"template": chart_template()} | figure.layout}
    data = {"figure": drawn, "alt": alt, "reports": on_click is not None}
    _component(data=encode(data), key=key, on_clicked_change=clicked)


def _in_base64(array: np.ndarray) -> dict[str, Any]:
    spec = {"dtype": array.dtype.str[1:], "bdata": base64.b64encode(array.tobytes()).decode()}
    return spec | ({"shape": ", ".join(map(str, array.shape))} if array.ndim > 1 else {})


def encode(value: dict[str, Any], array_as: Callable[[np.ndarray], dict[str, Any]] = _in_base64) -> bytes:
    """JSON in which an array of numbers is written as `array_as` says; if not given, as Plotly reads it: {"dtype",
    "bdata" in base64, "shape"}.

    Elsewhere a number that is not finite becomes null, because JSON cannot represent it; Plotly draws a gap for null.
    """
    plain = partial(_plain, array_as)
    try:
        return json.dumps(value, default=plain, allow_nan=False, separators=(",", ":")).encode()
    except ValueError:
        return encode(_finite(value), array_as)


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _finite(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(each) for each in value]
    if isinstance(value, np.ndarray):
        return value if value.dtype.str[1:] in NUMBERS else _finite(value.tolist())
    return None if isinstance(value, float | np.floating) and not math.isfinite(value) else value


def _plain(array_as: Callable[[np.ndarray], dict[str, Any]], value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    if not isinstance(value, np.ndarray):
        raise TypeError(f"A figure holds a {type(value).__name__}")
    value = value.astype(WIDER.get(value.dtype.str[1:], value.dtype), copy=False)
    if value.dtype.str[1:] not in NUMBERS:  # words, None, True
        return value.tolist()
    return array_as(value)
