"""A grid of numbers shown as colours, with tokens or layers along both sides. It shows one set of numbers, or switches
between several."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from app.components.numbered import listening, received
from app.components.registration import component
from app.figures.theme import ColorScale

_component = component("cell_grid")


@dataclass(frozen=True)
class View:
    """One set of numbers.

    Attributes:
        name: its name on the switch.
        values: rows of numbers.
        scale: colours from 0 to the largest number; with `signed`, from the largest negative to the largest positive.
        says: a sentence about one cell; {row}, {column} and {value} are filled in.
        means: a sentence about the whole set, beside the sentence about the cell.
        digits: decimals of a number.
    """

    name: str
    values: Sequence[Sequence[float]]
    scale: ColorScale
    signed: bool
    says: str
    means: str = ""
    digits: int = 1


@dataclass(frozen=True)
class Axis:
    """One side: what is along it, the name of each, and their colour.

    Attributes:
        gone: for each name, whether it is struck through.
    """

    title: str
    names: Sequence[str]
    color: str
    gone: Sequence[bool] = ()


def cell_grid(
    views: Sequence[View],
    rows: Axis,
    columns: Axis,
    *,
    key: str,
    alt: str,
    chosen: tuple[int, int],
    on_choose: Callable[[int, int], None],
    framed: bool,
    height: int,
) -> None:
    """Draws the grid.

    Args:
        chosen: row and column, from 0.
        on_choose: is called with the row and the column that are chosen; a click on a name changes only one of them.
        framed: whether the chosen cell is framed. If not, it is only the cell that is described first.
        height: height of the grid, in px of a window of 1280x720.
    """
    across = len(columns.names)
    data: dict[str, Any] = {
        "views": [asdict(view) for view in views],
        "rows": asdict(rows),
        "columns": asdict(columns),
        "alt": alt,
        "chosen": chosen[0] * across + chosen[1],
        "framed": framed,
        "height": height,
        "received": received(key),
    }
    counts = {"cell": across * len(rows.names)}
    _component(
        data=data, key=key, on_chosen_change=listening(key, counts, lambda name, at: on_choose(*divmod(at, across)))
    )
