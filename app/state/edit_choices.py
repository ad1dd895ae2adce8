"""The edits that a visitor has made (`EDITS`): adding and undoing them. The newest is the last.

A page may make one edit by itself, which it undoes later.
"""

from collections.abc import Iterable

import streamlit as st

from app.state.choices import EDITS, MOST_EDITS, SIDE
from app.state.edits_aside import OF_PAGE
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


def add_for_page(edit: Edit) -> None:
    """Makes an edit that belongs to the page, and not to the visitor."""
    st.session_state[OF_PAGE] = edit_text(edit)
    add([edit])


def undo_for_page() -> None:
    """Removes the edit that a page made by itself, if there is one."""
    if text := st.session_state.pop(OF_PAGE, ""):
        undo(text)


def forget_undone_for_page() -> None:
    """If the visitor has undone the edit of the page, the same edit belongs to the visitor when it is made again."""
    if st.session_state.get(OF_PAGE) not in EDITS.value:
        st.session_state.pop(OF_PAGE, None)
