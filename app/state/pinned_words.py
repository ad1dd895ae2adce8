"""The form of the canvas, and the words that are pinned on it: of which kind of attention, and of which sentence and
translation."""

import streamlit as st

from app.figures.canvas_message import Form
from app.state.choice import Choice
from app.state.choices import PINNED, UNPINNED
from transformer.model.attention_kinds import Kind

_OF = "pinned of"  # in the session: the key of the scene whose words are pinned


def pinned(kind: Kind, scene: str = "") -> tuple[int, int, bool]:
    """The query and the key that are pinned in this kind of attention, UNPINNED in place of one that is not; and
    whether the calculation of their weight is open.

    Args:
        scene: key of what is shown. In another sentence or translation nothing is pinned.
    """
    if scene:
        if st.session_state.get(_OF, scene) != scene:
            PINNED.forget()
        st.session_state[_OF] = scene
    of, query, key, computed = PINNED.value
    return (query, key, computed) if of == kind else (UNPINNED, UNPINNED, False)


def keep(form: Choice[Form], shown: Form, kind: Kind, query: int, key: int, computed: bool) -> None:
    """Keeps how the canvas is drawn and what is pinned; it has written both into the address itself."""
    if form.value != shown:
        form.choose(shown)
    if query == key == UNPINNED:
        PINNED.forget()
    else:
        PINNED.choose((kind, query, key, computed))


def pin(kind: Kind, query: int, key: int) -> None:
    """Pins two words of the scene that is drawn next."""
    forget_scene()
    PINNED.choose((kind, query, key, False))


def forget_scene() -> None:
    """What is pinned next is pinned in whichever sentence is shown then."""
    st.session_state.pop(_OF, None)
