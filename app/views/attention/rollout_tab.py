"""A tab of the Attention page: attention rollout, what reaches a position from each token over all layers."""

import numpy as np
import streamlit as st

from app.components.chart import chart
from app.figures.matrix import attention_matrix, matrix_alt, matrix_width
from app.figures.shown_weights import Options, shown
from app.library.source_code import lines_from
from app.stage.scene import Scene
from app.views.shared.head_pictures import Chosen, rows_sum
from app.views.shared.placed import matrix_belongings
from app.views.shared.triplet import shape_text, triplet
from transformer.analysis import rollout
from transformer.model.attention_kinds import Kind

TITLES: dict[Kind, str] = {
    "encoder": "Encoder rollout",
    "decoder": "Decoder self-attention rollout",
    "cross": "Rollout from the source to the decoder",
}
EXPLAINED: dict[Kind, str] = {
    "encoder": "How much of each token of the source is in each position after this layer, if attention and the "
    "residual connection carry half each.",
    "decoder": "How much of each token that the decoder read is in each of its rows after this layer, following "
    "self-attention alone: what the source adds is left out.",
    "cross": "How much of each token of the source is in each row of the decoder after this layer. It comes through "
    "the encoder's rollout R and the head mean X of this attention; what came earlier, from the source (C) and from "
    "what was read (O), is passed on by self-attention (Ã: half the mean of its heads, half the residual connection) "
    "and halved by the residual connection around this attention.",
}
FORMULAS: dict[Kind, str] = {
    "encoder": r"\tilde A_l = \tfrac12 \bar A_l + \tfrac12 I, \qquad R_l = \tilde A_l R_{l-1}, \qquad R_0 = I",
    "decoder": r"\tilde A_l = \tfrac12 \bar A_l + \tfrac12 I, \qquad R_l = \tilde A_l R_{l-1}, \qquad R_0 = I",
    "cross": r"C_l = \tfrac12 \tilde A_l C_{l-1} + \tfrac12 \bar X_l R, \quad O_l = \tfrac12 \tilde A_l O_{l-1}, "
    r"\quad C_0 = 0,\ O_0 = I",
}


def rollout_pictures(scene: Scene, chosen: Chosen, options: Options) -> None:
    """The rollout of the chosen kind of attention, up to the chosen layer."""
    kind, layer = chosen.kind, chosen.layer
    arrived = _arrived(scene, kind)  # (L, Q, K)
    queries, keys = scene.axes(kind)
    now = shown(arrived[:, None].astype(np.float32), arrived[layer] > 0, queries, keys, options)
    weights = now.weights[layer, 0]
    title = f"{TITLES[kind]}, after layer {layer + 1} of {len(arrived)}{now.suffix}"
    triplet(
        "Abnar and Zuidema (2020), section 3",
        FORMULAS[kind],
        f"{EXPLAINED[kind]} The bar is the mean over heads. Choose how far with *Layer*, above.",
        lines_from(rollout.decoder_rollout, "for self_weights", "@ encoder")
        if kind == "cross"
        else lines_from(rollout.rollout, "for layer", "arrived = mixed"),
        shape=shape_text("QK", now.weights.shape[2:]),
        in_paper=False,
    )
    alt = matrix_alt(weights, now.queries, now.keys, title)
    narrowest = matrix_width(now.queries, now.keys)
    st.html(f"<style>.st-key-rollout [data-testid='stElementContainer'] {{ min-width: {narrowest}px; }}</style>")
    with st.container(key="rollout"):
        chart(
            attention_matrix(weights, now.queries, now.keys, title=title, mask=now.mask, row=chosen.row),
            key="rollout_matrix",
            alt=alt,
        )
    if kind == "cross":
        from_source = float(arrived[layer].sum(axis=-1).mean())
        st.caption(
            f"A row sums to the share that comes from the source, here {from_source:.0%} on average; the rest comes "
            "from what the decoder has read."
            + (" With special tokens hidden, each row is divided by what is left of it." if now.hidden_keys else "")
        )
    else:
        st.caption(f"{rows_sum(now)} Grey: not reached so far. These are shares under an assumption, not effects.")
    matrix_belongings("rollout", title, "The rollout as a table", weights, (now.queries, now.keys))


def _arrived(scene: Scene, kind: Kind) -> np.ndarray:
    """(L, Q, K): what has arrived from each key's token after each layer."""
    if kind != "cross":
        return rollout.rollout(scene.attention(kind).weights)
    encoder, decoder, cross = (scene.attention(part).weights for part in ("encoder", "decoder", "cross"))
    return rollout.decoder_rollout(decoder, cross, rollout.rollout(encoder)[-1])[1]
