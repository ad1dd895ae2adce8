"""A tab of the Attention page: attention rollout, how much of each token reaches a position through the layers."""

import numpy as np
import streamlit as st

from app.figures.matrix import attention_matrix, matrix_alt, matrix_table, matrix_width
from app.figures.shares import Share
from app.figures.shown_weights import Options, shown
from app.languages import _, gettext_noop
from app.library.source_code import lines_from
from app.stage.scene import Scene
from app.views.attention.head_pictures import Chosen, rows_sum
from app.views.shared.shapes import shape_text
from app.views.shared.show_figure import scrolling, show_figure
from app.views.shared.triplet import triplet
from transformer.analysis import rollout
from transformer.model.attention_kinds import Kind

TITLES: dict[Kind, str] = {
    "encoder": gettext_noop("Encoder rollout"),
    "decoder": gettext_noop("Decoder self-attention rollout"),
    "cross": gettext_noop("Rollout from the source to the decoder"),
}
EXPLAINED: dict[Kind, str] = {
    "encoder": gettext_noop(
        "How much of each token of the source is in each position after this layer, if attention and the "
        "residual connection carry half each."
    ),
    "decoder": gettext_noop(
        "How much of each token that the decoder read is in each of its rows after this layer, following "
        "self-attention alone: what the source adds is left out."
    ),
    "cross": gettext_noop(
        "How much of each token of the source is in each row of the decoder after this layer. This layer adds the "
        "mean X of its heads times the encoder's rollout R. Earlier layers have added shares of the source (C) and of "
        "the tokens that the decoder read (O): self-attention Ã, which is half the mean of its heads and half the "
        "residual connection, passes them on, and the residual connection around encoder-decoder attention halves them."
    ),
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
    place = {"layer": layer + 1, "layers": len(arrived)}
    title = _("{rollout}, after layer {layer} of {layers}", rollout=_(TITLES[kind]), **place) + now.suffix
    triplet(
        _("after Abnar and Zuidema (2020), extended to the decoder")
        if kind == "cross"
        else _("Abnar and Zuidema (2020), section 3"),
        FORMULAS[kind],
        _(
            "{explained} A bar over a letter: the mean over heads. *Layer*, above, chooses the last layer.",
            explained=_(EXPLAINED[kind]),
        ),
        lines_from(rollout.decoder_rollout, "for self_weights", "@ encoder")
        if kind == "cross"
        else lines_from(rollout.rollout, "for layer", "arrived = mixed"),
        shape=shape_text("QK", now.weights.shape[2:]),
        origin="elsewhere",
    )
    with scrolling("rollout", matrix_width(now.queries, now.keys)):
        show_figure(
            attention_matrix(weights, now.queries, now.keys, title=title, mask=now.mask, row=chosen.row),
            key="rollout",
            name=title,
            alt=matrix_alt(weights, now.queries, now.keys, title),
            table=lambda: matrix_table(weights, now.queries, now.keys),
        )
    if kind == "cross":
        from_source = Share(float(arrived[layer].sum(axis=-1).mean()))
        if now.hidden_keys:
            caption = _(
                "Before special tokens were hidden, a row summed to the share that comes from the source, {share:.0%} "
                "on average; now each row sums to 1.",
                share=from_source,
            )
        else:
            caption = _(
                "A row sums to the share that comes from the source, here {share:.0%} on average; the rest comes from "
                "what the decoder has read.",
                share=from_source,
            )
        st.caption(caption)
    else:
        st.caption(
            _(
                "{sums} Grey: not reached so far. The shares assume that attention and the residual connection count "
                "half each; they do not measure effects.",
                sums=rows_sum(now),
            )
        )


def _arrived(scene: Scene, kind: Kind) -> np.ndarray:
    """(L, Q, K): after each layer, how much of each key's token has arrived in each query's position."""
    if kind != "cross":
        return rollout.rollout(scene.attention(kind).weights)
    encoder, decoder, cross = (scene.attention(part).weights for part in ("encoder", "decoder", "cross"))
    return rollout.decoder_rollout(decoder, cross, rollout.rollout(encoder)[-1])[1]
