"""Two or more columns of results beside each other, each row named: what a model with a part does, and without it."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from app.components.registration import component

_component = component("comparison")


@dataclass(frozen=True)
class Cell:
    """One result.

    Attributes:
        text: what the model wrote, or what was measured; text of a user is safe.
        note: below it, smaller.
        share: drawn as a bar, 0 to 1.
        changed: whether it is marked as another than the first of its row.
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
    """One question to all columns; `label` says what was done."""

    label: str
    cells: tuple[Cell, ...]


def comparison(
    columns: Sequence[str], rows: Sequence[Row], *, title: str | Title, key: str, color: str, language: str = ""
) -> None:
    """Draws the columns.

    Args:
        columns: what distinguishes them.
        title: above them.
        color: of bars.
        language: the code of the language of the texts, or "".
    """
    above = title if isinstance(title, Title) else Title(title)
    data = {"columns": list(columns), "rows": [asdict(row) for row in rows], "title": above.text, "color": color}
    data |= {"note": above.note, "names": list(above.models), "lang": language}
    _component(data=data, key=key)
