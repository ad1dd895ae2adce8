"""Figures in the page: drawn by Plotly, each in the place where it stood before.

Not by `st.plotly_chart`: that takes a figure that has changed for another chart, throws the drawn one away and draws
three times until the new one stands. Here the drawn chart is told what changed (tests/benchmarks/app.py: a click costs
about half). Nor does it report clicks on a cell for long: its selection is forgotten with the chart.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import plotly.graph_objects as go
import plotly.io
import streamlit as st

from app.session import is_dark
from app.theme import chart_template

_chart = st.components.v2.component(
    "headlight_chart",
    html="<div class='chart'></div>",
    js=(Path(__file__).parent / "chart.js").read_text(encoding="utf-8"),
    isolate_styles=False,  # Plotly writes its styles into the page
)


class Point(NamedTuple):
    """What was clicked: its place on the axes, and the `customdata` that the figure gave it."""

    x: float
    y: float
    customdata: Any


def chart(figure: go.Figure, *, key: str, alt: str, on_click: Callable[[Point], None] | None = None) -> None:
    """Draws a figure as wide as its place; its layout says how high.

    Args:
        key: nothing else on the page may have it. A chart with the same key is the same chart, drawn anew.
        alt: what the picture says, in words.
        on_click: is told which point was clicked. Only points of scatters and bars can be.
    """

    def clicked() -> None:
        found = st.session_state[key].clicked
        if on_click and isinstance(found, dict):
            on_click(Point(found["x"], found["y"], found["customdata"]))

    spec = figure.to_dict()
    spec["layout"]["template"] = chart_template(is_dark())
    data = plotly.io.to_json({"figure": spec, "alt": alt}, validate=False)
    _chart(data=data.encode(), key=key, on_clicked_change=clicked)
