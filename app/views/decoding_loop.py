"""One turn of the loop: what is fed in, what is looked at and kept, the distribution, and what is chosen and why."""

import math
from dataclasses import replace
from functools import partial

import streamlit as st

from app import computed
from app.components.decoding import loop
from app.figures.distribution import (
    Mark,
    distribution_alt,
    distribution_bars,
    distribution_table,
    entropy_bits,
    offers,
    softmax,
)
from app.figures.loop import Sizes, cache_table, loop_picture
from app.session import is_dark
from app.source import lines_between, lines_from
from app.theme import probability_text
from app.views.placed import belongings, placed
from app.views.search_code import Method, choice, method_of, temperature_of
from app.views.stage import Scene
from app.views.triplet import shape_text, triplet
from transformer.decoding.reading import may_be_drawn, path_to
from transformer.model.cache import Past
from transformer.model.transformer import Decoder, Transformer

SHOWN = 8  # pieces of the distribution
_WORDS: dict[Method, str] = {
    "beam": "Beam search keeps the best few hypotheses, and compares the **sums** of their log-probabilities: the "
    "piece that goes on need not be the most probable one of its own step.",
    "greedy": "Greedy decoding takes the most probable piece, and never comes back to it.",
    "sampling": "Sampling draws the piece at random; temperature, top k and top p say how freely.",
    "given": "Nothing is searched for: the decoder reads what you gave, step by step here, in training all at once.",
}


_WHERE: dict[Method, tuple[str, bool]] = {  # and whether it is in the paper
    "beam": ("section 6.1", True),
    "greedy": ("greedy decoding", False),
    "sampling": ("sampling", False),
    "given": ("teacher forcing", False),
}


def loop_part(scene: Scene, step: int, layer: int, head: int) -> None:
    """The loop at this step, where this head looks at it, and below it the paper and the code. All from 0."""
    left, right = st.columns([3, 2], gap="medium")
    with left:
        with st.container(key="picture_loop"):
            _loop(scene, step, layer, head)
        belongings(
            key="loop",
            name=f"Decoding, step {step + 1}",
            table=lambda: cache_table(scene.target, len(scene.source), _sizes(scene)),
        )
    with right:
        _distribution(scene, step)
    _paper(scene, step)


def _sizes(scene: Scene) -> Sizes:
    config = scene.config
    return Sizes(
        config.encoder_layers, config.decoder_layers, config.heads, config.d_model, config.d_k, config.vocab_size
    )


def _loop(scene: Scene, step: int, layer: int, head: int) -> None:
    source_ids, ids = scene.translation.source_ids, scene.hypothesis.ids
    cross = computed.attention(scene.opened.file, source_ids, ids, "cross").weights[layer, head, step]  # (S)
    own = computed.attention(scene.opened.file, source_ids, ids, "decoder").weights[layer, head, step]  # (T)
    loop(
        loop_picture(
            scene.source,
            scene.target,
            step,
            _sizes(scene),
            looks=(cross, own[: step + 1]),
            head=f"layer {layer + 1}, head {head + 1}",
            probability=_probability(scene, step),
            hypotheses=_alive(scene, step),
            dark=is_dark(),
        ),
        key="loop",
    )


def _probability(scene: Scene, step: int) -> float:
    """Of the piece that the translation goes on with, at the temperature at which it was decoded."""
    logits = scene.record("logits")["logits"][step]  # (V)
    return float(softmax(logits, temperature_of(scene))[scene.hypothesis.ids[step]])


def _alive(scene: Scene, step: int) -> int:
    """How many hypotheses are decoded side by side at this step, from 0: those that the step before kept."""
    if scene.is_given:
        return 1
    if step == 0:
        return scene.translation.settings.n_best if scene.translation.settings.method == "sampling" else 1
    return sum(node.step == step and node.fate == "kept" for node in scene.translation.tree)


def _distribution(scene: Scene, step: int) -> None:
    settings = scene.translation.settings
    logits = scene.record("logits")["logits"][step]  # (V)
    chosen = scene.hypothesis.ids[step]
    _why(scene, step)
    method, usual = method_of(scene), temperature_of(scene)
    temperature = st.slider(
        "Temperature", 0.1, 3.0, min(max(usual, 0.1), 3.0), 0.1, key=f"what_if_{method}_{usual}",
        help="softmax(logits / temperature), from the logits that are there: no new pass of the model. "
        "The order of the pieces stays, so greedy and beam search choose at 1 and sampling alone notices it.",
    )  # fmt: skip
    allowed = None
    if method == "sampling":
        allowed = may_be_drawn(logits, replace(settings, temperature=temperature))
    piece = scene.opened.translator.tokenizer.piece
    mark: Mark = "given" if method == "given" else "chosen"
    offered = partial(offers, logits, chosen, piece, temperature=temperature, mark=mark)
    found = offered(count=SHOWN, allowed=allowed)
    title = f"Step {step + 1}: the next piece, of {len(logits):,}"
    asked = ""
    if temperature != usual:
        title += f", at temperature {temperature:g}"
        asked = "The model's own is" if method == "given" else "It was decoded at"
        asked = f" {asked} {usual:g}, where the {mark} piece has {probability_text(_probability(scene, step))}."
    placed(
        distribution_bars(found, len(logits), title=title, dark=is_dark()),
        key="distribution",
        name=f"Distribution, step {step + 1}, temperature {temperature:g}",
        alt=distribution_alt(found, title),
        table=lambda: distribution_table(offered(count=50, allowed=allowed)),
    )
    st.caption(
        f"Entropy {entropy_bits(logits, temperature):.2f} bits of at most {math.log2(len(logits)):.2f}: "
        f"0 is certain. Hover has logits and ranks.{asked}"
    )


def _why(scene: Scene, step: int) -> None:
    """Why this piece: the search's own words."""
    hypothesis, settings = scene.hypothesis, scene.translation.settings
    if hypothesis.node is None:
        said = "You gave this piece; the model was not asked. What it finds most probable stands on top of the chart."
    else:
        said = path_to(scene.translation.tree, hypothesis.node)[step].reason
    if settings.method == "sampling" and hypothesis.node is not None:
        drawn = computed.drawn(scene.opened.file, scene.translation.source_ids, hypothesis.ids, settings)
        if drawn:
            said += (
                f" The random number {drawn[step].number:.5f} fell into its stretch, {drawn[step].begin:.5f} to "
                f"{drawn[step].end:.5f}, of the line on which all pieces that may be drawn lie side by side."
            )
    with st.container(key="why"):
        st.text(f"Why this piece: {said}")


def _paper(scene: Scene, step: int) -> None:
    method = method_of(scene)
    rows, config = _alive(scene, step), scene.config
    triplet(
        "section 3.1",
        r"h_t = \mathrm{Decoder}\big(y_{<t},\ \mathrm{Encoder}(x)\big)",
        "*The model is auto-regressive, consuming the previously generated symbols as additional input when generating "
        "the next.* A step computes the newest row alone: queries come from that row, keys and values from the "
        "encoder's output and from the rows before, which the cache has kept.",
        lines_from(Decoder.step, "for i, (layer, cache)", "x = layer.step"),
        whole=lines_between("model/transformer.py", "Decoder.step"),
        shape="x: " + shape_text(("R", "1", "D"), (rows, 1, config.d_model)),
    )
    triplet(
        "section 3.4",
        r"\begin{gathered}p(y_t \mid y_{<t}, x) = \mathrm{softmax}(W\,h_t) \\"
        r"\log p(y \mid x) = \textstyle\sum_t \log p(y_t \mid y_{<t}, x)\end{gathered}",
        "The row becomes one number a piece of the vocabulary, and the softmax makes probabilities of them: the bars "
        "above. A translation's log-probability is the sum over its steps.",
        lines_from(Transformer.project, "return linear"),
        shape="logits: " + shape_text(("R", "V"), (rows, config.vocab_size)),
    )
    few, whole = choice(method)
    shape = "logits: " + shape_text(("W", "V"), (rows, config.vocab_size))
    where, in_paper = _WHERE[method]
    triplet(where, "", _WORDS[method], few, whole=whole, shape=shape, in_paper=in_paper)
    triplet(
        "the key-value cache",
        r"K_t = [K_{t-1};\,k_t] \qquad V_t = [V_{t-1};\,v_t]",
        "Because of the causal mask, keys and values of past rows never change. So a step appends one row of them in "
        "each layer, instead of computing them all again.",
        lines_from(Past.append, "self.newest[2 * layer].copy_", "return self.all"),
        whole=lines_between("model/cache.py", "Past.append"),
        shape="keys and values, each: " + shape_text(("R", "H", "K", "E"), (rows, config.heads, step + 1, config.d_k)),
        in_paper=False,
    )
