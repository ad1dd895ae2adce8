"""Edits of the visitor that were put aside because a link or a scene replaced all edits; they can be restored."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress

import streamlit as st

from app.state.choices import CHECKPOINT, EDITS, MOST_EDITS
from transformer.errors import HeadlightError

# In the session, as texts:
OF_PAGE = "edit of the page"  # the edit that a page made by itself
_OF_LINK = "edits of the link"  # those of the link or the scene that was opened last
_ASIDE = "edits put aside"  # the name of a checkpoint, and the visitor's edits that a link or a scene has replaced


@contextmanager
def put_aside() -> Iterator[None]:
    """Within it a link or a scene replaces all choices. The edits that only the visitor made are put aside."""
    state, name = st.session_state, CHECKPOINT.value
    given = (*state.get(_OF_LINK, ()), state.pop(OF_PAGE, None))
    if own := [text for text in EDITS.value if text not in given and _is_edit(text)]:
        of, before = state.get(_ASIDE, (name, ()))
        state[_ASIDE] = name, tuple(dict.fromkeys((*(before if of == name else ()), *own)))
    yield
    state[_OF_LINK] = tuple(map(_as_app_writes, EDITS.value))


def aside() -> tuple[str, ...]:
    """The visitor's edits that a link or a scene has replaced, if they are edits of the checkpoint that is open."""
    name, texts = st.session_state.get(_ASIDE, ("", ()))
    return tuple(text for text in texts if text not in EDITS.value) if name == CHECKPOINT.value else ()


def restore_aside() -> None:
    """Makes the visitor's edits again, in place of those of the link or the scene."""
    own = [text for text in EDITS.value if text not in st.session_state.get(_OF_LINK, ())]
    EDITS.choose(tuple(dict.fromkeys((*aside(), *own)))[:MOST_EDITS])
    forget_aside()


def forget_aside() -> None:
    st.session_state.pop(_ASIDE, None)


def _is_edit(text: str) -> bool:
    """Whether the text can be read; one in a link may be cut off, for example."""
    from transformer.analysis.edits import parse_edit

    with suppress(HeadlightError):
        parse_edit(text)
        return True
    return False


def _as_app_writes(text: str) -> str:
    """The text of an edit as the app writes it; a link may write it in another way."""
    from transformer.analysis.edits import edit_text, parse_edit  # with PyTorch, which the first page does not need

    with suppress(HeadlightError):
        return edit_text(parse_edit(text))
    return text
