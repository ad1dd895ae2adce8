"""The bars of the distribution of the next token: probabilities, temperature, ranks, and what sampling leaves out."""

import math

import numpy as np
import pytest

from app.figures.distribution import (
    LETTER,
    distribution_alt,
    distribution_bars,
    distribution_table,
    entropy_bits,
    offers,
)
from app.figures.softmax import softmax
from app.views.decoding.frame_data import Step, step_data
from tests.support.decoding_figures import HOSTILE, LOGITS, token_of
from tests.support.drawn import checked


@pytest.mark.parametrize("temperature", [0.1, 1.0, 2.5])
def test_temperature_is_softmax_of_logits_divided_by_it(temperature: float) -> None:
    powers = [math.exp(float(value) / temperature) for value in LOGITS]
    expected = [power / sum(powers) for power in powers]
    assert softmax(LOGITS, temperature=temperature) == pytest.approx(expected)
    entropy = -sum(p * math.log2(p) for p in expected)
    assert entropy_bits(LOGITS, temperature) == pytest.approx(entropy, abs=1e-12)


def test_the_bars_are_the_best_tokens_then_the_chosen_one_in_the_last_place_then_all_others() -> None:
    found = offers(LOGITS, 1, token_of, count=2)
    assert [(offer.id, offer.rank) for offer in found] == [(4, 1), (1, 6)]
    figure = checked(distribution_bars(found, len(LOGITS), title="t"))
    drawn = np.asarray(figure.data[0].x)
    p = softmax(LOGITS)
    assert drawn == pytest.approx([p[4], p[1], p[0] + p[2] + p[3] + p[5]])
    assert sum(drawn) == pytest.approx(1)
    assert "chosen · rank 6" in figure.data[0].text[1]
    assert "chosen" not in figure.data[0].text[0]


@pytest.mark.parametrize("allowed", [None, np.arange(6) == 4])
def test_every_label_has_room_after_its_bar(allowed: np.ndarray | None) -> None:
    logits = LOGITS + 40 * (np.arange(6) == 4) * (allowed is None)
    figure = checked(distribution_bars(offers(logits, 4, token_of, count=2, allowed=allowed), 6, title="t"))
    ends = np.maximum(*(np.asarray(figure.data[trace].x) for trace in (0, -1)))
    assert figure.data[0].text[0].endswith("100% · chosen" if allowed is not None else ">99.99% · chosen")
    for end, text in zip(ends, figure.data[0].text, strict=True):
        assert end / figure.layout.xaxis.range[1] + LETTER * len(text) <= 1 + 1e-9


def test_the_bars_and_the_frame_write_a_step_with_the_same_digits() -> None:
    logits = np.random.default_rng(0).normal(size=40) * 3
    texts = (
        checked(distribution_bars(offers(logits, int(logits.argmax()), token_of, count=9), 40, title="t")).data[0].text
    )
    frame = step_data(Step(logits, int(logits.argmax()), "Because."), token_of)
    assert [text.split(" ·")[0] for text in texts] == [
        *(row["number"] for row in frame["rows"]),
        frame["rest"]["9"]["number"],
    ]


def test_tokens_of_equal_logits_share_a_rank_and_both_are_drawn() -> None:
    assert [(offer.id, offer.rank) for offer in offers(LOGITS, 4, token_of, count=3)] == [(4, 1), (2, 2), (5, 2)]


def test_a_token_that_sampling_leaves_out_has_a_pattern_and_the_words_left_out() -> None:
    allowed = np.array([True, True, False, True, True, True])
    found = offers(LOGITS, 4, token_of, count=3, allowed=allowed)
    figure = checked(distribution_bars(found, 6, title="t"))
    assert [offer.is_excluded for offer in found] == [False, True, False]
    assert list(figure.data[0].marker.pattern.shape) == ["", "/", "", "."]
    assert "may not be drawn" in figure.data[0].text[1]
    assert "may not be drawn" in distribution_alt(found, "t")


def test_the_share_of_a_token_that_sampling_may_choose_is_written_outlined_and_in_the_table() -> None:
    allowed = np.array([True, True, False, False, True, False])
    found = offers(LOGITS, 4, token_of, count=3, allowed=allowed)
    p = softmax(LOGITS)
    expected = [p[4] / (p[0] + p[1] + p[4]), 0, 0]
    assert [offer.share for offer in found] == pytest.approx(expected)
    bars, outlines, ends = checked(distribution_bars(found, 6, title="t")).data
    assert np.asarray(bars.x) == pytest.approx([p[4], p[2], p[5], p[0] + p[1] + p[3]])
    assert np.asarray(outlines.x) == pytest.approx([*expected, 1 - expected[0]])
    assert np.asarray(ends.x) == pytest.approx(np.maximum(bars.x, outlines.x))
    assert [text.strip() for text in ends.text] == list(bars.text)
    assert bars.text[0] == f"{p[4]:.1%} → {expected[0]:.1%} · chosen"
    assert bars.text[1] == f"{p[2]:.1%} · may not be drawn"
    assert distribution_table(found)["share among the tokens that may be drawn"] == pytest.approx(expected)
    none_left = distribution_bars(offers(LOGITS, 4, token_of, count=1, allowed=LOGITS == 3), 6, title="t")
    assert list(checked(none_left).data[0].text) == [
        f"{p[4]:.1%} → 100% · chosen",
        f"{1 - p[4]:.1%} · may not be drawn",
    ]
    assert len(distribution_bars(offers(LOGITS, 4, token_of, count=3), 6, title="t").data) == 1


def test_hostile_tokens_are_drawn_letter_by_letter_in_the_distribution() -> None:
    found = offers(LOGITS, 4, lambda id: HOSTILE, count=2)
    figure = checked(distribution_bars(found, 6, title=HOSTILE))
    for text in (*figure.layout.yaxis.ticktext[:2], *figure.data[0].customdata[:2], figure.layout.title.text):
        assert "<img" not in text
        assert "<script" not in text
        assert "&lt;" in text
