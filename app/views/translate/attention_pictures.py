"""Where the model looked, as the Translate page shows it: lines, all heads at a glance, one head as a matrix.

The Attention page has more.
"""

import streamlit as st

from app.figures.shown_weights import shown
from app.stage.scene import Scene
from app.views.shared.head_pictures import Chosen, explained, facts, lines, matrix, matrix_numbers, overview
from transformer.model.attention_kinds import Kind


def attention_pictures(scene: Scene, kind: Kind, layer: int, head: int) -> None:
    """All pictures of attention, for this head (layer and head from 0)."""
    st.header("What the model attended to", anchor=False)
    st.caption(explained(kind, scene.config.attention_window))
    found = scene.attention(kind)
    chosen = Chosen(kind, layer, head, shown(found.weights, found.mask, *scene.axes(kind)))
    lines(chosen)
    with st.container(key="duo"):
        left, right = st.columns([2, 5], gap="large")
        with left:
            st.subheader("All layers and heads", anchor=False)
            overview(chosen)
            facts(chosen)
        with right:
            st.subheader("One head in numbers", anchor=False)
            matrix(chosen)
            matrix_numbers(chosen)
