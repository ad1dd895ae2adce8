"""The distribution over the next token: why this one, and what another temperature, top k or top p would leave.

Nothing is searched again: the logits of the step are there.
"""

import math
from dataclasses import replace
from functools import partial

import streamlit as st

from app.compute import cached_results
from app.figures.distribution import (
    Mark,
    both_texts,
    distribution_alt,
    distribution_bars,
    distribution_table,
    entropy_bits,
    offers,
    shares_of,
    softmax,
)
from app.figures.theme import probability_text
from app.stage.scene import Scene
from app.views.shared.placed import placed
from app.views.shared.search_code import method_of, temperature_of
from transformer.config import DecodingConfig
from transformer.decoding.finished_search import may_be_drawn, path_to

SHOWN = 8  # tokens of the distribution
TOP_K = (1, 2, 3, 5, 8, 10, 20, 50, 100, 200, 500, 1000, 0)  # 0 = all tokens


def distribution_part(scene: Scene, step: int) -> None:
    """Why the token of this step (from 0), what else to try, and the most probable tokens as bars."""
    logits = scene.record("logits")["logits"][step]  # (V)
    _why(scene, step)
    method, usual = method_of(scene), temperature_of(scene)
    tried = _tried(scene)
    temperature = tried.temperature
    allowed = may_be_drawn(logits, tried) if method == "sampling" else None
    piece = scene.subject.translator.tokenizer.piece
    mark: Mark = "given" if method == "given" else "chosen"
    offered = partial(offers, logits, scene.hypothesis.ids[step], piece, temperature=temperature, mark=mark)
    found = offered(count=SHOWN, allowed=allowed)
    title = f"Step {step + 1}: the next token, of {len(logits):,}{_other(scene, tried)}"
    asked = ""
    if temperature != usual:
        asked = "The model's own is" if method == "given" else "It was decoded at"
        asked = f" {asked} {usual:g}, where the {mark} token has {probability_at(scene, step)}."
    figure = distribution_bars(found, len(logits), title=title)
    placed(
        figure,
        key="distribution",
        name=f"Distribution, step {step + 1}, temperature {temperature:g}",
        alt=distribution_alt(found, title),
        table=lambda: distribution_table(offered(count=50, allowed=allowed)),
    )
    share = ""
    if len(figure.data) > 1:
        share = " After the arrow, and outlined: the share of what may be drawn, from which one token is drawn."
    st.caption(
        f"Entropy {entropy_bits(logits, temperature):.2f} bits of at most {math.log2(len(logits)):.2f}: "
        f"0 is certain.{share} Hover has logits and ranks.{asked}"
    )


def probability_at(scene: Scene, step: int) -> str:
    """Of the token that the translation goes on with, as it was decoded: temperature, top k and top p included."""
    logits, chosen = scene.record("logits")["logits"][step], scene.hypothesis.ids[step]  # (V)
    probabilities = softmax(logits, temperature_of(scene))  # (V)
    sampled = method_of(scene) == "sampling"
    shares = shares_of(probabilities, may_be_drawn(logits, scene.translation.settings) if sampled else None)  # (V)
    if not shares[chosen]:  # a rounding apart from the search, at the edge of what may be drawn
        return probability_text(float(probabilities[chosen]))
    return both_texts(float(probabilities[chosen]), float(shares[chosen]))


def _tried(scene: Scene) -> DecodingConfig:
    """The settings of the sliders: at first those with which it was decoded."""
    settings, method, usual = scene.translation.settings, method_of(scene), temperature_of(scene)
    sampled = method == "sampling"
    places = st.columns(3 if sampled else 1)
    temperature = places[0].slider(
        "Temperature", 0.1, 3.0, min(max(usual, 0.1), 3.0), 0.1, key=f"what_if_{method}_{usual}",
        help="softmax(logits / temperature), from the logits that are there: no new pass of the model. "
        "The order of the tokens stays, so greedy and beam search choose at 1 and sampling alone notices it.",
    )  # fmt: skip
    if not sampled:
        return replace(settings, temperature=temperature)
    choices = sorted({*TOP_K, settings.top_k}, key=lambda k: k or math.inf)
    top_k = places[1].select_slider(
        "Top k", choices, settings.top_k, format_func=_top_k, key=f"what_if_top_k_{settings.top_k}",
        help="Only the k most probable tokens may be drawn.",
    )  # fmt: skip
    top_p = places[2].slider(
        "Top p", 0.05, 1.0, settings.top_p, 0.05, key=f"what_if_top_p_{settings.top_p}",
        help="Only the fewest tokens may be drawn whose probabilities sum to p.",
    )  # fmt: skip
    return replace(settings, temperature=temperature, top_k=int(top_k), top_p=top_p)


def _top_k(k: int) -> str:
    return f"{k:,}" if k else "all"


def _other(scene: Scene, tried: DecodingConfig) -> str:
    """What was changed by the sliders, for the title."""
    settings, said = scene.translation.settings, ""
    if tried.temperature != temperature_of(scene):
        said += f", at temperature {tried.temperature:g}"
    if method_of(scene) == "sampling":
        said += f", top k {_top_k(tried.top_k)}" if tried.top_k != settings.top_k else ""
        said += f", top p {tried.top_p:g}" if tried.top_p != settings.top_p else ""
    return said


def _why(scene: Scene, step: int) -> None:
    """Why this token: the search's own words."""
    hypothesis, settings = scene.hypothesis, scene.translation.settings
    if hypothesis.node is None:
        said = "You gave this token; the model was not asked. What it finds most probable stands on top of the chart."
    else:
        said = path_to(scene.translation.tree, hypothesis.node)[step].reason
    if settings.method == "sampling" and hypothesis.node is not None:
        drawn = cached_results.drawn(scene.subject, scene.translation.source_ids, hypothesis.ids, settings)
        if drawn:
            said += (
                f" The random number {drawn[step].number:.5f} is in the interval of this token, "
                f"{drawn[step].begin:.5f} to {drawn[step].end:.5f}: each token that may be drawn has an interval "
                "as long as its share."
            )
    with st.container(key="why"):
        st.text(f"Why this token: {said}")
