"""Vectors of one token as strips, with downloads and table: for the pages Step by step and Residual stream."""

from collections.abc import Sequence

import streamlit as st

from app import components
from app.figures.strips import Strip, strips_alt, strips_picture, strips_table
from app.views.shared.show_figure import download_and_table


def placed_strips(rows: Sequence[Strip], *, key: str, title: str) -> None:
    """Draws the strips. The key must be unique on the page."""
    with st.container(key=f"picture_{key}"):
        components.vector_strips(strips_picture(rows, title=title, alt=strips_alt(rows, title)), key=key)
    download_and_table(key=key, name=title, table=lambda: strips_table(rows))
