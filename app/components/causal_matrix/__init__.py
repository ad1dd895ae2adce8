"""The causal mask on a translation: one head's attention with it and without it, and what each row predicts."""

from collections.abc import Callable
from typing import Any

from app.components.numbered import listening, received
from app.components.registration import component, sent

_component = component("causal_matrix")


def causal_matrix(
    data: dict[str, Any],
    *,
    key: str,
    on_choose: Callable[[str, int], None],
    on_cell: Callable[[int, int], None] | None = None,
    pinned: tuple[int, int] | None = None,
    pins_given: int = 0,
    on_pin: Callable[[int, int], None] | None = None,
) -> None:
    """Draws the matrix; taking the mask away and pointing at cells need no server.

    Args:
        data: from `app.views.shared.causal_picture.message`. With `given` (which pass is shown), there is no switch.
            Without `given`, the data also have `scores`, those before the mask, and `shown`, what is shown at first:
            0 the weights with the mask, 1 the weights without it, 2 the scores. An optional `heading` above the picture
            says whose attention it shows.
        on_choose: is called with "layer" or "head" and its number from 0, or with "mask" and what is shown.
        on_cell: is called with the query and the key of the clicked cell, from 0. If it is None, a click pins the cell
            (see `pinned`).
        pinned: the query and the key of the cell that is pinned, or -1 for none. A click pins a cell or unpins it, and
            writes it into the address. None: cells cannot be pinned.
        pins_given: how often the page has pinned a cell itself: the picture then shows `pinned` for the same sentence.
        on_pin: is called with the query and the key of the cell that is pinned now, or with -1 for none.
    """
    counts = {"layer": data["layers"], "head": data["heads"], "mask": 3}

    def clicked() -> None:
        cell: Any = sent(key, "clicked")
        query, place = (cell.get(name) if isinstance(cell, dict) else None for name in ("query", "key"))
        size = range(len(data["reads"]))
        if on_cell and isinstance(query, int) and isinstance(place, int) and query in size and place in size:
            on_cell(query, place)

    def pins() -> None:
        cell: Any = sent(key, "pinned")
        query, place = (cell.get(name) if isinstance(cell, dict) else None for name in ("query", "key"))
        size = range(-1, len(data["reads"]))
        if on_pin and isinstance(query, int) and isinstance(place, int) and query in size and place in size:
            on_pin(query, place)

    more = {"received": received(key), "clickable": on_cell is not None, "pinned": pinned, "pinsGiven": pins_given}
    chosen = listening(key, counts, on_choose)
    _component(data=data | more, key=key, on_chosen_change=chosen, on_clicked_change=clicked, on_pinned_change=pins)
