"""The edits that a visitor has made (`EDITS`): adding and undoing them. The newest is the last."""

from collections.abc import Iterable

from app.state.choices import EDITS, MOST_EDITS, SIDE
from transformer.analysis.edits import Edit, edit_text


def is_on(edit: Edit) -> bool:
    """Whether the model has this edit."""
    return edit_text(edit) in EDITS.value


def toggle(edit: Edit) -> None:
    """Adds an edit, or removes it."""
    if is_on(edit):
        undo(edit_text(edit))
    else:
        add([edit])


def add(edits: Iterable[Edit]) -> None:
    """Makes edits that the model does not have yet. Those beyond `MOST_EDITS` are dropped; edits_line.py says so."""
    EDITS.choose(tuple(dict.fromkeys((*EDITS.value, *map(edit_text, edits))))[:MOST_EDITS])


def replace(kind: type | tuple[type, ...], edit: Edit | None, edits: Iterable[Edit]) -> None:
    """Replaces all edits of a kind by one edit, or removes them where `edit` is None.

    Args:
        edits: all edits that the model has now.
    """
    kept = [each for each in edits if not isinstance(each, kind)]
    EDITS.choose(tuple(map(edit_text, [*kept, *([edit] if edit else [])])))


def undo(text: str) -> None:
    """Removes one edit."""
    EDITS.choose(tuple(each for each in EDITS.value if each != text))
    if not EDITS.value and SIDE.value == "edits":
        SIDE.forget()  # without edits, the page Compare cannot compare with the original model


def undo_all() -> None:
    """Removes all edits."""
    for text in EDITS.value:
        undo(text)
