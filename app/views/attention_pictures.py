"""Where the model looked, as the Translate page shows it: lines, all heads at a glance, one head as a matrix.

They are a fragment: choosing a head draws them again and nothing else. The Attention page has more.
"""

import streamlit as st

from app import computed
from app.figures.shown import shown
from app.session import Opened
from app.views.choose import axes, kind_layer_head
from app.views.head_pictures import Chosen, explained, facts, lines, matrix, overview
from app.views.stage import Scene
from transformer.decoding.translation import Hypothesis, Translation


@st.fragment
def attention_pictures(opened: Opened, translation: Translation, hypothesis: Hypothesis) -> None:
    """All pictures of attention for this hypothesis."""
    scene = Scene(opened, translation, hypothesis)
    st.header("Where it looked", anchor=False)
    kind, layer, head = kind_layer_head(scene)
    st.caption(explained(kind, scene.config.attention_window))
    found = computed.attention(opened.file, translation.source_ids, hypothesis.ids, kind)
    chosen = Chosen(kind, layer, head, shown(found.weights, found.mask, *axes(scene, kind)))
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
