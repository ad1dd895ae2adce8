"""A table of results with two or more columns and named rows, such as what a model does with a part and without it."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from app.components.registration import component

_component = component("comparison")


@dataclass(frozen=True)
class Cell:
    """One result.

    Attributes:
        text: what the model wrote, or what was measured. Text that a user typed is safe here.
        note: a smaller text below it.
        share: 0 to 1, drawn as a bar.
        changed: whether it is marked as different from the first cell of its row.
    """

    text: str
    note: str = ""
    share: float | None = None
    changed: bool = False


@dataclass(frozen=True)
class Title:
    """What is above the columns: a heading, a line below it, and the name of the model of each column."""

    text: str
    note: str = ""
    models: tuple[str, ...] = ()


@dataclass(frozen=True)
class Row:
    """One row: `label` says what was done, and `cells` has the result of each column."""

    label: str
    cells: tuple[Cell, ...]


def comparison(
    columns: Sequence[str], rows: Sequence[Row], *, title: str | Title, key: str, color: str, language: str = ""
) -> None:
    """Draws the columns.

    Args:
        columns: the headings of the columns.
        title: the text above the columns.
        color: the colour of the bars.
        language: the code of the language of the texts, or "".
    """
    above = title if isinstance(title, Title) else Title(title)
    data = {"columns": list(columns), "rows": [asdict(row) for row in rows], "title": above.text, "color": color}
    data |= {"note": above.note, "names": list(above.models), "lang": language}
    _component(data=data, key=key)
