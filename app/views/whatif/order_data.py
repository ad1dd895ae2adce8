"""The changes of the positions as data for the browser component `position_edits`."""

from typing import Any

from app.figures.theme import role_color, signed_scale
from app.languages import _, gettext_noop
from app.stage.edit_words import edit_words
from app.stage.scene import Scene
from app.views.whatif.order_ranking import Lost, PositionEdit, Reordering
from transformer.analysis.edits import PositionsOff, PositionsShifted, PositionsShuffled, PositionsSwapped

GROUPS = {
    PositionsShifted: gettext_noop("Shift all positions by …"),
    PositionsShuffled: gettext_noop("Shuffle them, seed …"),
    PositionsOff: gettext_noop("Remove them"),
}


def order_data(scene: Scene, lost: Lost, striking: Reordering, chosen: PositionEdit | None) -> dict[str, Any]:
    """What each change costs, and which one the model has now.

    Args:
        striking: the change that is framed.
        chosen: the change that the model has now.
    """
    tokens = scene.source.tokens
    size = range(len(tokens))
    values = [abs(value) for value in lost.nats.values()]
    pair = [striking.first, striking.second] if isinstance(striking, PositionsSwapped) else [0, 0]
    return {
        "tokens": list(tokens),
        "swaps": [[_rounded(lost.of(PositionsSwapped(*sorted((i, j))))) for j in size] for i in size],
        "groups": [
            {"title": _(title), "changes": [_change(edit, lost) for edit in lost.others if isinstance(edit, kind)]}
            for kind, title in GROUPS.items()
        ],
        "count": len(lost.others),
        "chosen": number_of(lost, len(tokens), chosen),
        "striking": pair,
        "largest": max(values, default=1.0) or 1.0,
        "scale": [list(stop) for stop in signed_scale()],
        "color": role_color("encoder"),
        "alt": _("What the translation loses when positions are swapped, shifted, shuffled or removed, in nats."),
        "measured": bool(lost.nats),
        "farthest": lost.farthest if lost.farthest < len(tokens) - 1 else None,
    }


def number_of(lost: Lost, size: int, edit: PositionEdit | None) -> int:
    """The number by which the browser names a change; -1 if it is not drawn."""
    if isinstance(edit, PositionsSwapped):
        first, second = sorted((edit.first, edit.second))
        return first + second * size if first < second < size else -1
    return size * size + lost.others.index(edit) if edit in lost.others else -1


def edit_of(lost: Lost, size: int, number: int) -> PositionEdit | None:
    """The change with this number; None if there is none."""
    if number >= size * size:
        return next(iter(lost.others[number - size * size :]), None)
    first, second = number % size, number // size
    return PositionsSwapped(first, second) if first < second else None


def _change(edit: PositionEdit, lost: Lost) -> dict[str, Any]:
    match edit:
        case PositionsShifted(number) | PositionsShuffled(number):
            label = str(number)
        case _:
            label = _("all")
    return {"label": label, "name": edit_words(edit), "lost": _rounded(lost.of(edit))}


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 3)
