"""Greedy decoding and beam search of the same sentence, side by side, whichever of them is chosen for the page."""

import math
from dataclasses import replace
from typing import Any

import streamlit as st

from app import components
from app.compute import cached_results
from app.figures.theme import fixed, probability_text, score_text
from app.figures.token_strip import target_strip
from app.library.source_code import lines_between, lines_from
from app.stage.scene import Scene
from app.views.decoding.diverging_translations import parting, running_chart, running_table
from app.views.shared.placed import placed
from app.views.shared.text_difference import difference_data
from app.views.shared.triplet import shape_text, triplet
from transformer.config import DecodingConfig
from transformer.decoding.greedy_and_sampling import Rows
from transformer.decoding.translation import Hypothesis

PAPERS_BEAM = 4


def methods_part(scene: Scene) -> None:
    """Both translations with their scores, where they differ, and how their sums grow."""
    settings = scene.translation.settings
    size = settings.beam if settings.beam > 1 else PAPERS_BEAM
    greedy = _best(scene, replace(settings, method="greedy", n_best=1))
    beam = _best(scene, replace(settings, method="beam", beam=size, n_best=1))
    names = ("greedy", f"beam of {size}")
    at = parting(greedy.ids, beam.ids)
    with st.container(key="said_parting"):
        st.text(_said(greedy, beam, at, size))
    for place, key, name, found in zip(
        st.columns(2, gap="large"), ("greedy", "beam"), names, (greedy, beam), strict=True
    ):
        with place:
            st.subheader(name, anchor=False)
            components.token_strip(_strip(scene, found, at), key=f"{key}_strip")
            st.caption(_numbers(found))
    if at is not None:
        _parted(greedy, beam, at, names)
    _paper(scene)


def _parted(greedy: Hypothesis, beam: Hypothesis, at: int, names: tuple[str, str]) -> None:
    """What differs, word by word, and the sums of both."""
    components.difference(difference_data(greedy.text, beam.text, label="What the beam changed"), key="beam_changed")
    log_probabilities = (greedy.log_probabilities, beam.log_probabilities)
    pieces = (greedy.pieces, beam.pieces)
    title = "Sum of log p, from the step at which they differ"
    placed(
        running_chart(log_probabilities, pieces, names, at, title=title),
        key="running",
        name=title,
        alt=f"{title}, after step {at}. Greedy ends at {score_text(greedy.score)}, the beam at "
        f"{score_text(beam.score)}.",
        table=lambda: running_table(log_probabilities, pieces, names),
    )
    st.caption("The vertical line is the first step at which they differ; before it they are the same.")


def _paper(scene: Scene) -> None:
    triplet(
        "section 6.1",
        r"\log p(y \mid x) = \textstyle\sum_t \log p(y_t \mid y_{<t}, x)",
        "“We used beam search with a beam size of 4 and length penalty α = 0.6.” Greedy decoding, a beam of one, takes "
        "the largest term of each step; the largest terms do not always make the largest sum, nor the best score.",
        lines_from(Rows.advance, "topk(scores, 1)"),
        whole=lines_between("decoding/greedy_and_sampling.py", "Rows.advance"),
        shape="scores: " + shape_text(("B", "W", "V"), (1, 1, scene.config.vocab_size)),
    )


def strip_of(scene: Scene, hypothesis: Hypothesis) -> dict[str, Any]:
    """A translation as its tokens; data of the component `token_strip`."""
    probabilities = [math.exp(value) for value in hypothesis.log_probabilities]
    strip = target_strip(hypothesis.pieces, hypothesis.ids, probabilities)
    return strip | {"headline": hypothesis.text or "(nothing)", "lang": scene.task.target_code}


def _strip(scene: Scene, hypothesis: Hypothesis, at: int | None) -> dict[str, Any]:
    """The same, with a note below the first token that differs."""
    strip = strip_of(scene, hypothesis)
    if at is not None and at < len(hypothesis.pieces):
        strip["chips"][at]["under"].append("differs here")
    return strip


def _best(scene: Scene, settings: DecodingConfig) -> Hypothesis:
    found = cached_results.translate_one(scene.subject, scene.translation.source, settings)
    return found.hypotheses[0]


def _numbers(found: Hypothesis) -> str:
    count = len(found.pieces)
    said = f"{count} {'token' if count == 1 else 'tokens'}, sum of log p {fixed(found.score, 3)}"
    said += f", score {fixed(found.normalised_score, 3)}"
    if found.is_loop:
        return f"{said}; stopped, because it repeated one token"
    return said if found.finished else f"{said}; cut off at the length limit"


def _said(greedy: Hypothesis, beam: Hypothesis, at: int | None, size: int) -> str:
    """Where they differ, and which has the better score."""
    if at is None:
        return f"Here greedy decoding and a beam of {size} find the same translation."
    said = f"They differ from step {at + 1} on. "
    if at < len(greedy.pieces) and at < len(beam.pieces):
        taken, other = (
            f"“{each.pieces[at]}” ({probability_text(math.exp(each.log_probabilities[at]))})" for each in (greedy, beam)
        )
        said += f"Greedy takes the most probable token there, {taken}; the best of the beam goes on with {other}. "
    beam_wins = beam.normalised_score >= greedy.normalised_score
    high, low = (beam, greedy) if beam_wins else (greedy, beam)
    said += f"In the end the {'beam' if beam_wins else 'greedy one'} has the better score, "
    said += f"{fixed(high.normalised_score, 3)} against {fixed(low.normalised_score, 3)}"
    if high.score < low.score:
        return f"{said}, although its sum is lower: it is longer, so the length penalty divides it by more."
    return said + ("." if beam_wins else ": a beam, too, may drop what would have scored better in the end.")
