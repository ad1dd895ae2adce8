"""A picture with what belongs to it: alt text, a download as SVG, PNG and CSV, and the same numbers as a table."""

from collections.abc import Callable

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app import components
from app.components.chart import Point, chart
from app.figures.axes import TokenAxis
from app.figures.charts import Figure
from app.figures.matrix import matrix_csv, matrix_table
from app.figures.tables import Table, columns_csv

Axes = tuple[TokenAxis, TokenAxis]  # queries and keys


def placed(
    figure: Figure,
    *,
    key: str,
    name: str,
    alt: str,
    table: Callable[[], Table],
    on_click: Callable[[Point], None] | None = None,
) -> None:
    """Draws a figure in the page.

    Args:
        key: of the chart; nothing else on the page may have it.
        name: of the files that are saved.
        alt: what the picture says, in words.
        table: makes the columns of the table twin, when somebody wants them.
        on_click: is told which point was clicked.
    """
    with st.container(key=f"picture_{key}"):
        chart(figure, key=key, alt=alt, on_click=on_click)
    belongings(key=key, name=name, table=table)


def belongings(*, key: str, name: str, table: Callable[[], Table], drawn: bool = True, of: str = "") -> None:
    """At the picture in the container `picture_{key}`: one button for its downloads (SVG, PNG, CSV) and its table.

    Args:
        drawn: whether it is a drawing; words of the page cannot be saved as one.
        of: what is in the table, for the buttons of a picture that has two.
    """
    label = f"Download: {of}" if of else "Download"
    with st.container(key=f"download_{key}", horizontal=True, horizontal_alignment="right"):
        folded = st.popover(
            label, key=f"table_{key}", on_change="rerun", type="tertiary", icon=":material/download:", width="content"
        )
    if not folded.open:
        return
    with folded:
        if drawn:
            components.save_picture(f"picture_{key}", name, key=f"export_{key}")
        st.download_button(
            "CSV", lambda: columns_csv(table()), f"{name}.csv", "text/csv", key=f"csv_{key}", on_click="ignore"
        )
        st.dataframe(dict(table()), alt=name, hide_index=True)


def matrix_belongings(key: str, title: str, label: str, weights: np.ndarray, axes: Axes) -> None:
    """Below the matrix (Q, K) in the container `key`: buttons for its downloads, and the table `label`."""
    with st.container(horizontal=True, vertical_alignment="top", gap="xsmall"):
        export_buttons(key, title)
        st.download_button(
            "CSV", lambda: matrix_csv(weights, *axes), f"{title}.csv", "text/csv", key=f"{key}_csv", on_click="ignore"
        )
    weights_table(key, title, label, weights, axes)


def weights_table(key: str, title: str, label: str, weights: np.ndarray, axes: Axes) -> None:
    """A folded table of weights (Q, K), all with four digits, so that they stand under each other."""
    folded = st.expander(label, on_change="rerun", key=f"{key}_table")
    if folded.open:
        table = matrix_table(weights, *axes)
        digits = {name: st.column_config.NumberColumn(format="%.4f") for name in list(table)[1:]}  # first: the row
        folded.dataframe(dict(table), alt=title, hide_index=True, column_config=digits)


def export_buttons(key: str, name: str) -> None:
    """SVG and PNG of what is in the container `key`; no wider than they are, so that others stand beside them."""
    with st.container(width=122):
        components.save_picture(key, name, key=f"export_{key}")


def scrolling(key: str, narrowest: int) -> DeltaGenerator:
    """A place in which the chart `key` scrolls sideways rather than become narrower than this (px)."""
    st.html(f"<style>.st-key-{key} {{ min-width: {narrowest}px; }}</style>")
    return st.container(key="matrix")  # see page.css
