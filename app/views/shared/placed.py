"""A picture with what belongs to it: alt text, a download as SVG, PNG and CSV, and the same numbers as a table."""

from collections.abc import Callable

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app import components
from app.components.chart import Point, chart
from app.figures.charts import Figure
from app.figures.tables import Table, columns_csv


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
            components.export(f"picture_{key}", name, key=f"export_{key}")
        st.download_button(
            "CSV", lambda: columns_csv(table()), f"{name}.csv", "text/csv", key=f"csv_{key}", on_click="ignore"
        )
        st.dataframe(dict(table()), alt=name, hide_index=True)


def weights_table(place: DeltaGenerator, table: Table, alt: str) -> None:
    """A table of weights in `place`, all with four digits, so that they stand under each other."""
    digits = {name: st.column_config.NumberColumn(format="%.4f") for name in list(table)[1:]}  # first: what a row is
    place.dataframe(dict(table), alt=alt, hide_index=True, column_config=digits)


def export_buttons(picture: str, name: str, *, key: str) -> None:
    """SVG and PNG of what is drawn in this container, no wider than they are, so that other buttons stand beside."""
    with st.container(width=122):
        components.export(picture, name, key=key)


def scrolling(key: str, narrowest: int) -> DeltaGenerator:
    """A place in which the chart `key` scrolls sideways rather than become narrower than this (px)."""
    st.html(f"<style>.st-key-{key} {{ min-width: {narrowest}px; }}</style>")
    return st.container(key="matrix")  # see page.css
