"""A table of a downloaded page, as HTML."""

from collections.abc import Callable
from html import escape

from app.figures.tables import Table


def html_table(columns: Table, text_of: Callable[[object], str] = str) -> str:
    """The columns by their names, all of one length; "" if there is none. `text_of` writes a cell."""
    if not columns:
        return ""
    names = "".join(f'<th scope="col">{escape(name)}</th>' for name in columns)
    rows = zip(*columns.values(), strict=True)
    cells = "".join("<tr>" + "".join(f"<td>{escape(text_of(cell))}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{names}</tr></thead><tbody>{cells}</tbody></table>"
