"""A tab of the Attention page: BertViz's three views of our tensors, for those who know them."""

import numpy as np
import streamlit as st

from app.figures.axes import visible
from app.figures.mosaic import heads_table
from app.stage.scene import Scene
from app.state.choices import BERTVIZ
from app.state.color_scheme import is_dark
from app.views.attention.bertviz_html import (
    ALL_LAYERS_UP_TO,
    MOST_TOKENS,
    ShownAttention,
    View,
    bertviz_html,
    is_installed,
    vectors_table,
)
from app.views.shared.buttons import buttons
from app.views.shared.head_pictures import Chosen
from app.views.shared.placed import belongings
from transformer.model.attention_kinds import KINDS, SITES

NAMES: dict[View, str] = {"head": "Head view", "model": "Model view", "neuron": "Neuron view"}
EXPLAINED: dict[View, str] = {
    "head": "All heads of a layer in their colours. Point at a token; click a colour to turn a head off, double-click "
    "it to see it alone.",
    "model": "Every layer and head. Click one to enlarge it.",
    "neuron": "Query and key of each token, number by number. Point at a token on the left: q times k in each "
    "dimension, their sum, and the softmax. Blue is positive, orange negative.",
}


def bertviz(scene: Scene, chosen: Chosen) -> None:
    """One of the views, of the kind of attention that is chosen above."""
    if not is_installed():
        st.info("BertViz is not installed here: `pip install -r requirements.txt`.")
        return
    view = buttons(BERTVIZ, NAMES, "View")
    st.caption(f"{EXPLAINED[view]} {_limits(view)}")
    queries, keys = scene.axes(chosen.kind)
    tokens = max(len(queries), len(keys))
    if tokens > MOST_TOKENS:
        st.info(f"This sentence has {tokens} tokens on its longer side, more than this view can draw. Shorten it.")
        return
    layers = scene.attention(chosen.kind).weights  # (L, H, Q, K)
    numbers = list(range(len(layers))) if tokens <= ALL_LAYERS_UP_TO[view] else [chosen.layer]
    vectors: tuple[np.ndarray, np.ndarray] | None = None
    if view == "neuron":
        site = SITES[chosen.kind].format(chosen.layer)
        found = scene.record(f"{site}.query", f"{site}.key")
        vectors = found[f"{site}.query"][None], found[f"{site}.key"][None]  # (1, H, ., E)
    title = f"BertViz {NAMES[view].lower()}: {KINDS[chosen.kind]}"

    shown = ShownAttention(
        layers[numbers],
        [visible(token) for token in queries.tokens],
        [visible(token) for token in keys.tokens],
        numbers,
        chosen.layer,
        chosen.head,
        vectors,
        causal=chosen.kind == "decoder",
    )

    st.caption(
        f"{KINDS[chosen.kind]}; left: the queries"
        + (", named by what the row reads" if queries.predicts else "")
        + "; right: the keys."
        + (f" Layer {chosen.layer + 1} alone." if len(numbers) < len(layers) else "")
        + " BertViz listens to the mouse alone; the lines above take the keyboard too."
    )
    st.iframe(
        bertviz_html(view, shown, title, dark=is_dark()),
        height="content",
        alt=f"{title}. Its numbers are in the table{'s' if vectors else ''} below.",
    )
    name = title.replace(":", ",")
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.download_button(
            "HTML to take home",
            lambda: bertviz_html(view, shown, title, inline=True),  # in the light theme: it may be printed
            f"{name}.html",
            "text/html",
            key="bertviz_html",
            on_click="ignore",
            help="One file that needs no network.",
        )
        belongings(
            key="bertviz",
            name=name,
            drawn=False,
            of="weights" if vectors else "",
            table=lambda: heads_table(layers[numbers], queries, keys, numbers),
        )
        if vectors:
            own, others = vectors
            belongings(
                key="bertviz_vectors",
                name=f"{name}, q and k",
                drawn=False,
                of="q and k",
                table=lambda: vectors_table(own[0], others[0], queries, keys),
            )


def _limits(view: View) -> str:
    all_layers = ALL_LAYERS_UP_TO[view]
    if not all_layers:
        return f"It draws the chosen layer, up to {MOST_TOKENS} tokens."
    return f"Up to {all_layers} tokens it draws all layers, up to {MOST_TOKENS} the chosen one."
