"""A picture with what belongs to it: alt text, a download as SVG, PNG and CSV, and the same numbers as a table."""

from collections.abc import Callable

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app import components
from app.components import recording
from app.components.chart import Point, chart
from app.figures.charts import Figure
from app.figures.tables import Table, columns_csv
from app.languages import _, speaking
from app.languages.catalogues import ENGLISH
from app.views.shared.number_tables import readable

FEW_COLUMNS, MOST_ROWS, TABLE_HEIGHT = 3, 5, 215  # TABLE_HEIGHT in px, for tables with more than MOST_ROWS rows


def show_figure(
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
        table: makes the columns of the table; it is called when the table is opened, and for the CSV file.
        on_click: is called with the clicked point.
    """
    with st.container(key=f"picture_{key}"):
        chart(figure, key=key, alt=alt, on_click=on_click)
    download_and_table(key=key, name=name, table=table)


def download_and_table(
    *, key: str, name: str, table: Callable[[], Table], drawn: bool = True, of: str = "", sentence: str = ""
) -> None:
    """Draws, for the picture in the container `picture_{key}`, a button for downloads (SVG, PNG, CSV) and its table.

    Args:
        drawn: whether the container has a drawing, which can be saved as SVG and PNG.
        of: what is in the table; it is written on the button, for a picture with two tables.
        sentence: is written above the saved drawing, below its name.
    """
    if record := recording.current():
        record.tables.append((key, name, table))
    label = _("Download: {what}", what=of) if of else _("Download")
    with st.container(key=f"download_{key}", horizontal=True, horizontal_alignment="right"):
        folded = st.popover(
            label, key=f"table_{key}", on_change="rerun", type="tertiary", icon=":material/download:", width="content"
        )
    if not folded.open:
        return
    columns = dict(table())
    wide = "wide_" if len(columns) > FEW_COLUMNS else ""
    with folded, st.container(key=f"saved_{wide}{key}"):
        with st.container(horizontal=True, gap="small"):
            if drawn:
                components.save_picture(f"picture_{key}", name, key=f"export_{key}", sentence=sentence)
            st.download_button(
                "CSV", lambda: _csv(table), f"{name}.csv", "text/csv", key=f"csv_{key}", on_click="ignore"
            )
        rows = max((len(column) for column in columns.values()), default=0)
        st.dataframe(
            **readable(columns), alt=name, hide_index=True, height="content" if rows <= MOST_ROWS else TABLE_HEIGHT
        )


def _csv(table: Callable[[], Table]) -> str:
    """The table as CSV. Its columns have English names in every language, because programs read them."""
    with speaking(ENGLISH):
        return columns_csv(table())


def scrolling(key: str, narrowest: int) -> DeltaGenerator:
    """A place in which the chart `key` scrolls sideways rather than become narrower than this (px)."""
    st.html(f"<style>.st-key-{key} {{ min-width: {narrowest}px; }}</style>")
    return st.container(key=f"scroll_{key}")  # see page.css
