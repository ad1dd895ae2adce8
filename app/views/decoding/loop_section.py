"""One step of the decoder's loop: input, attention, cache and distribution; below, the paper's text and the code."""

import numpy as np
import streamlit as st

from app import components
from app.languages import _
from app.library.source_code import lines_from, lines_of_definition
from app.stage.scene import Scene
from app.views.decoding.distribution_section import distribution_part, probability_at
from app.views.decoding.loop_data import DecodingStep, Sizes, cache_table, loop_picture, weights_table
from app.views.shared.shapes import shape_text
from app.views.shared.show_figure import download_and_table
from app.views.shared.triplet import triplet
from transformer.model.cache import LayerCache
from transformer.model.transformer import Decoder, Transformer


def loop_part(scene: Scene, step: int, layer: int, head: int) -> None:
    """The loop at a step, with the attention of one head; below it the paper's text and the code. All count from 0."""
    left, right = st.columns([3, 2], gap="medium")
    with left:
        with st.container(key="picture_loop"):
            _loop(scene, step, layer, head)
        download_and_table(
            key="loop",
            name=_("Decoding, step {step}", step=step + 1),
            table=lambda: cache_table(scene.target, len(scene.source), _sizes(scene)),
            of=_("cache"),
        )
        download_and_table(
            key="loop_weights",
            name=_("Decoding, step {step}, layer {layer}, head {head}", step=step + 1, layer=layer + 1, head=head + 1),
            table=lambda: weights_table(scene.source, scene.target, *_weights(scene, step, layer, head)),
            drawn=False,
            of=_("weights"),
        )
    with right:
        distribution_part(scene, step)
    _paper(scene, step)


def _sizes(scene: Scene) -> Sizes:
    config = scene.config
    return Sizes(
        config.encoder_layers, config.decoder_layers, config.heads, config.d_model, config.d_k, config.vocab_size
    )


def _weights(scene: Scene, step: int, layer: int, head: int) -> tuple[np.ndarray, np.ndarray]:
    """The weights of a head at this step: over the source (S), and over what was read so far (step + 1)."""
    scene = scene.as_in_steps
    cross = scene.attention("cross").weights[layer, head, step]  # (S)
    own = scene.attention("decoder").weights[layer, head, step]  # (T)
    return cross, own[: step + 1]


def _loop(scene: Scene, step: int, layer: int, head: int) -> None:
    components.decoding_loop(
        loop_picture(
            scene.source,
            scene.target,
            DecodingStep(
                step,
                *_weights(scene, step, layer, head),
                layer=layer,
                head=head,
                probability=probability_at(scene, step),
                hypotheses=_alive(scene, step),
            ),
            _sizes(scene),
        ),
        key="loop",
    )


def _alive(scene: Scene, step: int) -> int:
    """How many hypotheses are decoded side by side at this step, from 0: those that the step before kept."""
    if scene.is_given:
        return 1
    if step == 0:
        return scene.translation.settings.n_best if scene.translation.settings.method == "sampling" else 1
    return sum(node.step == step and node.outcome == "kept" for node in scene.translation.tree)


def _paper(scene: Scene, step: int) -> None:
    rows, config = _alive(scene, step), scene.config
    triplet(
        _("section 3"),
        r"h_t = \mathrm{Decoder}\big(y_{<t},\ \mathrm{Encoder}(x)\big)",
        _(
            "*The model is auto-regressive, consuming the previously generated symbols as additional input when "
            "generating the next.* A step computes the newest row alone: queries come from that row, keys and values "
            "from the encoder's output and from the rows before, which the cache has kept."
        ),
        lines_from(Decoder.step, "for i, (layer, cache)", "x = layer.step"),
        whole=lines_of_definition("model/transformer.py", "Decoder.step"),
        shape="x: " + shape_text(("R", "1", "D"), (rows, 1, config.d_model)),
    )
    triplet(
        _("section 3.4"),
        r"\begin{gathered}p(y_t \mid y_{<t}, x) = \mathrm{softmax}(W\,h_t) \\"
        r"\log p(y \mid x) = \textstyle\sum_t \log p(y_t \mid y_{<t}, x)\end{gathered}",
        _(
            "The row becomes one number per token of the vocabulary, and the softmax makes probabilities of them: the "
            "bars of the distribution. A translation's log-probability is the sum over its steps."
        ),
        lines_from(Transformer.project, "return linear"),
        shape=_("logits: {shape}", shape=shape_text(("R", "V"), (rows, config.vocab_size))),
    )
    triplet(
        _("the key-value cache"),
        r"K_t = [K_{t-1};\,k_t] \qquad V_t = [V_{t-1};\,v_t]",
        _(
            "Because of the causal mask, keys and values of past rows never change. So a step appends one row of them "
            "in each layer, instead of computing them all again."
        )
        if scene.subject.has_causal_mask
        else _(
            "An edit switches the causal mask off, but a step finds only the tokens written so far in the cache. It "
            "appends one row of keys and values in each layer and does not compute past rows again, although they "
            "would now attend to the new token."
        ),
        lines_from(LayerCache.append, "key = torch.cat", "return key, value"),
        whole=lines_of_definition("model/cache.py", "LayerCache.append"),
        shape=_(
            "keys and values, each: {shape}",
            shape=shape_text(("R", "H", "K", "E"), (rows, config.heads, step + 1, config.d_k)),
        ),
        origin="elsewhere",
    )
