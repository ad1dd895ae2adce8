"""The changes of the positions as data for the browser component `position_edits`."""

from typing import Any

from app.figures.theme import role_color, signed_scale
from app.stage.edit_words import edit_words
from app.stage.scene import Scene
from app.views.whatif.order_ranking import Lost, PositionEdit, Reordering
from transformer.analysis.edits import PositionsOff, PositionsShifted, PositionsShuffled, PositionsSwapped

GROUPS = {
    PositionsShifted: "Shift all positions by …",
    PositionsShuffled: "Shuffle them, seed …",
    PositionsOff: "Remove them",
}


def order_data(scene: Scene, lost: Lost, striking: Reordering, chosen: PositionEdit | None) -> dict[str, Any]:
    """What each change costs, and which is made.

    Args:
        striking: is framed.
        chosen: is made.
    """
    tokens = scene.source.tokens
    size = range(len(tokens))
    values = [abs(value) for value in lost.nats.values()]
    pair = [striking.first, striking.second] if isinstance(striking, PositionsSwapped) else [0, 0]
    return {
        "tokens": list(tokens),
        "swaps": [[_written(lost.of(PositionsSwapped(*sorted((i, j))))) for j in size] for i in size],
        "groups": [
            {"title": title, "changes": [_change(edit, lost) for edit in lost.others if isinstance(edit, kind)]}
            for kind, title in GROUPS.items()
        ],
        "count": len(lost.others),
        "chosen": number_of(lost, len(tokens), chosen),
        "striking": pair,
        "largest": max(values, default=1.0) or 1.0,
        "scale": [list(stop) for stop in signed_scale()],
        "color": role_color("encoder"),
        "alt": "What the translation loses when positions are swapped, shifted, shuffled or removed, in nats.",
        "hint": _hint(lost, len(tokens)),
        "made": "Click the marked bar again to take the change back.",
    }


def _hint(lost: Lost, size: int) -> str:
    if not lost.nats:
        return "Too long to measure what each change costs. Click one to see what it does."
    near = "" if lost.farthest >= size - 1 else f" Measured: swaps up to {lost.farthest} places apart."
    return f"In nats of log-probability. Click a word, then a bar.{near}"


def number_of(lost: Lost, size: int, edit: PositionEdit | None) -> int:
    """The number of a change, as the browser has it; -1: it is none of those that are drawn."""
    if isinstance(edit, PositionsSwapped):
        first, second = sorted((edit.first, edit.second))
        return first + second * size if first < second < size else -1
    return size * size + lost.others.index(edit) if edit in lost.others else -1


def edit_of(lost: Lost, size: int, number: int) -> PositionEdit | None:
    """The change of a number; None: there is none."""
    if number >= size * size:
        return lost.others[number - size * size]
    first, second = number % size, number // size
    return PositionsSwapped(first, second) if first < second else None


def _change(edit: PositionEdit, lost: Lost) -> dict[str, Any]:
    match edit:
        case PositionsShifted(number) | PositionsShuffled(number):
            label = str(number)
        case _:
            label = "all"
    return {"label": label, "name": edit_words(edit), "lost": _written(lost.of(edit))}


def _written(value: float | None) -> float | None:
    return None if value is None else round(value, 3)
