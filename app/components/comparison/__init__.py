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
class Row:
    """One question to all columns; `label` says what was done."""

    label: str
    cells: tuple[Cell, ...]


def comparison(
    columns: Sequence[str], rows: Sequence[Row], *, title: str, key: str, color: str, language: str = ""
) -> None:
    """Draws the columns.

    Args:
        columns: their names.
        title: above them.
        color: of bars.
        language: the code of the language of the texts, or "".
    """
    data = {"columns": list(columns), "rows": [asdict(row) for row in rows], "title": title, "color": color}
    _component(data=data | {"lang": language}, key=key)
