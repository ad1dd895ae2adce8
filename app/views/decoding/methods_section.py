"""Greedy decoding and beam search of the same sentence, side by side, whichever of them is chosen for the page."""

import math
from dataclasses import replace
from typing import Any

import streamlit as st

from app import components
from app.compute import cached_results
from app.compute.compared import Compared
from app.figures.axes import in_words
from app.figures.shares import probability_text
from app.figures.theme import fixed, score_text
from app.figures.token_strip import target_strip
from app.languages import _, ngettext
from app.library.source_code import lines_from
from app.stage.scene import Scene
from app.views.decoding.diverging_translations import running_chart, running_table
from app.views.shared.search_code import choice
from app.views.shared.shapes import shape_text
from app.views.shared.show_figure import show_figure
from app.views.shared.text_difference import difference_data
from app.views.shared.triplet import triplet
from transformer.config import DecodingConfig
from transformer.decoding.greedy_and_sampling import GreedyOrSampling
from transformer.decoding.translation import Hypothesis

PAPERS_BEAM = 4


def methods_part(scene: Scene) -> None:
    """Both translations with their scores, where they differ, and how their sums grow."""
    settings = scene.translation.settings
    size = settings.beam if settings.beam > 1 else PAPERS_BEAM
    greedy = greedy_hypothesis(scene)
    beam = _best(scene, replace(settings, method="beam", beam=size, n_best=1))
    at = Compared(greedy, beam).first_difference
    with st.container(key="text_parting"):
        st.text(_comparison(greedy, beam, at, size))
    for place, key, name, found in zip(
        st.columns(2, gap="large"), ("greedy", "beam"), _names(size), (greedy, beam), strict=True
    ):
        with place:
            st.subheader(name, anchor=False)
            components.token_strip(_strip(scene, found, at), key=f"{key}_strip")
            st.caption(_numbers(found))
    if at is not None:
        _parted(greedy, beam, at, size)
    _paper(scene)


def _names(size: int) -> tuple[str, str]:
    return _("greedy"), _("beam of {size}", size=size)


def _parted(greedy: Hypothesis, beam: Hypothesis, at: int, size: int) -> None:
    """What differs, word by word, and the sums of both."""
    components.difference(difference_data(greedy.text, beam.text, label=_("What the beam changed")), key="beam_changed")
    log_probabilities = (greedy.log_probabilities, beam.log_probabilities)
    tokens = (greedy.tokens, beam.tokens)
    title = _("Sum of log p, from the step at which they differ")
    show_figure(
        running_chart(log_probabilities, tokens, _names(size), at, title=title),
        key="running",
        name=title,
        alt=_(
            "{title}: step {step}. Greedy ends at {greedy}, the beam at {beam}.",
            title=title,
            step=at + 1,
            greedy=score_text(greedy.score),
            beam=score_text(beam.score),
        ),
        table=lambda: running_table(log_probabilities, tokens, _names(size)),
    )
    st.caption(_("The vertical line is the first step at which they differ; before it they are the same."))


def _paper(scene: Scene) -> None:
    triplet(
        _("section 6.1"),
        r"\log p(y \mid x) = \textstyle\sum_t \log p(y_t \mid y_{<t}, x)",
        _(
            "“We used beam search with a beam size of 4 and length penalty α = 0.6.” Greedy decoding, a beam of one, "
            "takes the largest term of each step; the largest terms do not always make the largest sum, nor the best "
            "score."
        ),
        lines_from(GreedyOrSampling.advance, "topk(scores, 1)"),
        whole=choice("greedy"),
        shape=_("scores: {shape}", shape=shape_text(("B", "W", "V"), (1, 1, scene.config.vocab_size))),
    )


def strip_of(scene: Scene, hypothesis: Hypothesis) -> dict[str, Any]:
    """A translation as its tokens; data of the component `token_strip`."""
    probabilities = [math.exp(value) for value in hypothesis.log_probabilities]
    strip = target_strip(hypothesis.tokens, hypothesis.ids, probabilities)
    return strip | {"headline": hypothesis.text or _("(nothing)"), "lang": scene.task.target_code}


def _strip(scene: Scene, hypothesis: Hypothesis, at: int | None) -> dict[str, Any]:
    """As `strip_of`, with a note below the first token that differs."""
    strip = strip_of(scene, hypothesis)
    if at is not None and at < len(hypothesis.tokens):
        strip["chips"][at]["under"].append(_("differs here"))
    return strip


def greedy_hypothesis(scene: Scene) -> Hypothesis:
    """What greedy decoding writes for the sentence, whichever search is chosen for the page."""
    return _best(scene, replace(scene.translation.settings, method="greedy", n_best=1))


def _best(scene: Scene, settings: DecodingConfig) -> Hypothesis:
    found = cached_results.translate_one(scene.subject, scene.translation.source, settings)
    return found.hypotheses[0]


def _numbers(found: Hypothesis) -> str:
    text = ngettext(
        "{count} token, sum of log p {sum}, score {score}",
        "{count} tokens, sum of log p {sum}, score {score}",
        len(found.tokens),
        sum=fixed(found.score, 3),
        score=fixed(found.normalised_score, 3),
    )
    if found.is_loop:
        return text + "; " + _("stopped, because it repeated one token")
    return text if found.finished else text + "; " + _("cut off at the length limit")


def _comparison(greedy: Hypothesis, beam: Hypothesis, at: int | None, size: int) -> str:
    """Where they differ, and which is better."""
    if at is None:
        return _("Here greedy decoding and a beam of {size} find the same translation.", size=size)
    sentences = [_("They differ from step {step} on.", step=at + 1)]
    if at < len(greedy.tokens) and at < len(beam.tokens):
        sentences.append(
            _(
                "Greedy takes the most probable token there, “{taken}” ({its_probability}); the best of the beam "
                "continues with “{other}” ({other_probability}).",
                taken=in_words(greedy.tokens[at]),
                its_probability=probability_text(math.exp(greedy.log_probabilities[at])),
                other=in_words(beam.tokens[at]),
                other_probability=probability_text(math.exp(beam.log_probabilities[at])),
            )
        )
    return " ".join([*sentences, _who_wins(greedy, beam)])


def _who_wins(greedy: Hypothesis, beam: Hypothesis) -> str:
    """Which has the better score, and why if that is not the one with the larger sum."""
    beam_wins = beam.normalised_score >= greedy.normalised_score
    high, low = (beam, greedy) if beam_wins else (greedy, beam)
    scores = {"high": fixed(high.normalised_score, 3), "low": fixed(low.normalised_score, 3)}
    if beam_wins and high.score < low.score:
        return _(
            "In the end the beam has the better score, {high} against {low}, although its sum is lower: it is longer, "
            "so the length penalty divides it by more.",
            **scores,
        )
    if beam_wins:
        return _("In the end the beam has the better score, {high} against {low}.", **scores)
    if high.score < low.score:
        return _(
            "In the end the greedy one has the better score, {high} against {low}, although its sum is lower: it is "
            "longer, so the length penalty divides it by more.",
            **scores,
        )
    return _(
        "In the end the greedy one has the better score, {high} against {low}: a beam, too, may drop what would have "
        "scored better in the end.",
        **scores,
    )
