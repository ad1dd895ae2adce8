"""The distribution over the next token, and how another temperature, top k or top p would change it.

No new search is needed: the logits of the step are known.
"""

import math
from dataclasses import replace
from functools import partial

import streamlit as st

from app.figures.distribution import (
    Mark,
    distribution_alt,
    distribution_bars,
    distribution_table,
    entropy_bits,
    offers,
    shares_of,
)
from app.figures.softmax import softmax
from app.figures.two_percents import both_in_words
from app.languages import _
from app.languages.numbers import formatted, widget_format
from app.stage.scene import Scene
from app.stage.search_method import method_of, temperature_of
from app.stage.search_settings import TEMPERATURES, TOP_PS
from app.state.choice import Between
from app.state.detail_choices import TRIED_TEMPERATURE, TRIED_TOP_K, TRIED_TOP_P
from app.views.shared.show_figure import show_figure
from transformer.config import DecodingConfig
from transformer.decoding.finished_sampling import may_be_drawn

SHOWN = 9  # tokens of the distribution, as in the frame at the top
TOP_K = (1, 2, 3, 5, 8, 10, 20, 50, 100, 200, 500, 1000, 0)  # 0 = all tokens


def distribution_part(scene: Scene, step: int) -> None:
    """Draws sliders for other settings at this step (from 0), and the most probable tokens as bars."""
    logits = scene.step_logits[step]  # (V)
    method, usual = method_of(scene), temperature_of(scene)
    tried = _tried(scene)
    temperature = tried.temperature
    allowed = may_be_drawn(logits, tried) if method == "sampling" else None
    token_of = scene.subject.translator.tokenizer.token
    mark: Mark = "given" if step in scene.given_steps else "chosen"
    offered = partial(offers, logits, scene.hypothesis.ids[step], token_of, temperature=temperature, mark=mark)
    found = offered(count=SHOWN, allowed=allowed)
    title = _("Step {step}: the next token, of {count:,}", step=step + 1, count=len(logits)) + _other(scene, tried)
    figure = distribution_bars(found, len(logits), title=title)
    show_figure(
        figure,
        key="distribution",
        name=_("Distribution, step {step}, temperature {temperature:g}", step=step + 1, temperature=temperature),
        alt=distribution_alt(found, title),
        table=lambda: distribution_table(offered(count=50, allowed=allowed)),
    )
    entropy, most = entropy_bits(logits, temperature), math.log2(len(logits))
    sentences = [_("Entropy {entropy:.2f} bits of at most {most:.2f}: 0 is certain.", entropy=entropy, most=most)]
    if len(figure.data) > 1:
        sentences.append(
            _("After the arrow, and outlined: the share of what may be drawn, from which one token is drawn.")
        )
    sentences.append(_("Point at a bar to see logit and rank; the table has them too."))
    if temperature != usual:
        values = {"temperature": usual, "probability": both_in_words(*probability_at(scene, step))}
        if method == "given" and mark == "given":
            sentences.append(
                _("The model's own is {temperature:g}, where the given token has {probability}.", **values)
            )
        elif method == "given":
            sentences.append(
                _("The model's own is {temperature:g}, where the chosen token has {probability}.", **values)
            )
        else:
            sentences.append(
                _("It was decoded at {temperature:g}, where the chosen token has {probability}.", **values)
            )
    st.caption(" ".join(sentences))


def probability_at(scene: Scene, step: int) -> tuple[float, float]:
    """The probability of the translation's token at this step, at the temperature of the search, and its share of what
    may be drawn with the top k and top p of the search."""
    logits, chosen = scene.step_logits[step], scene.hypothesis.ids[step]  # (V)
    probabilities = softmax(logits, temperature=temperature_of(scene))  # (V)
    sampled = method_of(scene) == "sampling"
    shares = shares_of(probabilities, may_be_drawn(logits, scene.translation.settings) if sampled else None)  # (V)
    # These logits differ from those of the search by rounding: the search drew this token, and here it is left out.
    return float(probabilities[chosen]), float(shares[chosen] or probabilities[chosen])


def _tried(scene: Scene) -> DecodingConfig:
    """The settings of the sliders: at first those with which the translation was decoded."""
    settings, usual = scene.translation.settings, temperature_of(scene)
    sampled = method_of(scene) == "sampling"
    places = st.columns(3 if sampled else 1)
    least, most = TEMPERATURES
    temperature = TRIED_TEMPERATURE.open(min(max(usual, least), most), Between(least, most))
    places[0].slider(
        _("Temperature"), least, most, step=0.1, key=TRIED_TEMPERATURE.key, persist_state="session",
        format=widget_format(),
        help=_(
            "softmax(logits / temperature), from the logits that are there: no new pass of the model. "
            "Only sampling uses a temperature; greedy decoding and beam search always choose at 1."
        ),
    )  # fmt: skip
    if not sampled:
        return replace(settings, temperature=temperature)
    choices = sorted({*TOP_K, settings.top_k}, key=lambda k: k or math.inf)
    top_k = TRIED_TOP_K.open(settings.top_k, choices)
    places[1].select_slider(
        _("Top k"), choices, format_func=_top_k, key=TRIED_TOP_K.key, persist_state="session",
        help=_("Only the k most probable tokens may be drawn."),
    )  # fmt: skip
    top_p = TRIED_TOP_P.open(settings.top_p, Between(*TOP_PS))
    places[2].slider(
        _("Top p"), *TOP_PS, step=0.05, key=TRIED_TOP_P.key, persist_state="session", format=widget_format(),
        help=_("Only the most probable tokens may be drawn: as few as have probabilities that sum to p or more."),
    )  # fmt: skip
    return replace(settings, temperature=temperature, top_k=top_k, top_p=top_p)


def _top_k(k: int) -> str:
    return formatted(k, ",") if k else _("all")


def _other(scene: Scene, tried: DecodingConfig) -> str:
    """What was changed by the sliders, for the title."""
    settings, text = scene.translation.settings, ""
    if tried.temperature != temperature_of(scene):
        text += _(", at temperature {temperature:g}", temperature=tried.temperature)
    if method_of(scene) == "sampling":
        text += _(", top k {k}", k=_top_k(tried.top_k)) if tried.top_k != settings.top_k else ""
        text += _(", top p {p:g}", p=tried.top_p) if tried.top_p != settings.top_p else ""
    return text
