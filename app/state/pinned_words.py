"""The form of the canvas, and the tokens that are pinned on it, for one kind of attention and one scene."""

import streamlit as st

from app.figures.canvas_message import Form
from app.state.choice import Choice
from app.state.choices import PINNED, UNPINNED
from transformer.model.attention_kinds import Kind

_PINNED_SCENE = "pinned of"  # in the session: the key of the scene whose tokens are pinned


def pinned(kind: Kind, scene: str = "") -> tuple[int, int, bool]:
    """The query and the key that are pinned in this kind of attention (UNPINNED if it is not pinned), and whether the
    calculation of their weight is open.

    Args:
        scene: key of what is shown. If it is another one than before, nothing is pinned any more.
    """
    if scene:
        if st.session_state.get(_PINNED_SCENE, scene) != scene:
            PINNED.forget()
        st.session_state[_PINNED_SCENE] = scene
    of, query, key, computed = PINNED.value
    return (query, key, computed) if of == kind else (UNPINNED, UNPINNED, False)


def keep(form: Choice[Form], shown: Form, kind: Kind, query: int, key: int, computed: bool) -> None:
    """Stores the form of the canvas and what is pinned on it; the browser has already written both into the address."""
    if form.value != shown:
        form.choose(shown)
    if query == key == UNPINNED:
        PINNED.forget()
    else:
        PINNED.choose((kind, query, key, computed))


def pin(kind: Kind, query: int, key: int) -> None:
    """Pins two tokens of the scene that is drawn next."""
    forget_scene()
    PINNED.choose((kind, query, key, False))


def forget_scene() -> None:
    """What is pinned after this belongs to the scene that is shown next."""
    st.session_state.pop(_PINNED_SCENE, None)
