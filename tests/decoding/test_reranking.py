"""A model of the other direction chooses among the hypotheses of a beam."""

import math
from dataclasses import replace

import pytest

from tests.support.small_decoding import small_translator
from transformer.config import DecodingConfig
from transformer.decoding import Translator
from transformer.decoding.reranking import PAIRS_AT_ONCE, Reranker, ranked, reverse_scores
from transformer.decoding.translation import Translation
from transformer.errors import TranslationError

SENTENCES = ["A dog barks.", "The cat sat on the mat, and the dog saw it.", "The mat is red."]
SETTINGS = DecodingConfig(beam=4, max_extra_length=4)


def translator(seed: int) -> Translator:
    return small_translator(SETTINGS, seed)


def translations(found: list[Translation | TranslationError]) -> list[Translation]:
    return [each for each in found if isinstance(each, Translation)]


def test_the_scores_of_a_batch_are_those_of_teacher_forcing_one_by_one() -> None:
    reverse = translator(1)
    pairs = [(SENTENCES[i % 3], f"the cat {'barks ' * (i % 7)}") for i in range(PAIRS_AT_ONCE + 5)]
    for (source, text), mean in zip(pairs, reverse_scores(reverse, pairs), strict=True):
        alone = reverse.score(text, source)
        assert mean == pytest.approx(alone.score / len(alone.ids), abs=1e-5)


def test_the_hypotheses_are_those_of_the_beam_ranked_by_the_sum_of_both_scores() -> None:
    forward, reverse, weight = translator(0), translator(1), 1000.0
    plain = translations(forward.translate_each(SENTENCES, replace(SETTINGS, n_best=4)))
    found = translations(Reranker(forward, reverse, weight).translate_each(SENTENCES, SETTINGS))
    moved = False
    for before, after in zip(plain, found, strict=True):
        assert sorted(each.ids for each in after.hypotheses) == sorted(each.ids for each in before.hypotheses)
        scores = reverse_scores(reverse, [(after.source, each.text) for each in after.hypotheses])
        sums = [
            (each.finished, each.normalised_score + weight * score)
            for each, score in zip(after.hypotheses, scores, strict=True)
        ]
        assert sums == sorted(sums, reverse=True)
        moved |= after.hypotheses[0].ids != before.hypotheses[0].ids
    assert moved


def test_a_weight_of_0_leaves_the_order_of_the_search() -> None:
    plain = translations(translator(0).translate_each(SENTENCES, replace(SETTINGS, n_best=4)))
    found = translations(Reranker(translator(0), translator(1), 0.0).translate_each(SENTENCES, SETTINGS))
    assert [each.hypotheses for each in found] == [each.hypotheses for each in plain]


def test_greedy_decoding_has_one_hypothesis_and_nothing_to_choose() -> None:
    greedy = DecodingConfig(method="greedy", max_extra_length=4)
    plain = translations(translator(0).translate_each(SENTENCES, greedy))
    found = translations(Reranker(translator(0), translator(1)).translate_each(SENTENCES, greedy))
    assert [each.hypotheses for each in found] == [each.hypotheses for each in plain]


@pytest.mark.parametrize(
    "pair", [("", "the cat"), ("the cat", "  "), ("the cat", "cat " * 90), ("cat " * 90, "the cat")]
)
def test_what_the_other_direction_cannot_read_or_write_is_scored_minus_infinity(pair: tuple[str, str]) -> None:
    scores = reverse_scores(translator(1), [pair, ("the cat", "the dog")])
    assert scores[0] == -math.inf
    assert math.isfinite(scores[1])


def test_a_hypothesis_that_cannot_be_scored_comes_last_and_none_leaves_the_order() -> None:
    (one,) = translations(translator(0).translate_each(SENTENCES[:1], replace(SETTINGS, n_best=4)))
    count = len(one.hypotheses)
    first_fails = ranked(one, [-math.inf, *[0.0] * (count - 1)])
    assert first_fails.hypotheses == (*one.hypotheses[1:], one.hypotheses[0])
    assert ranked(one, [-math.inf] * count) == one


def test_a_sentence_with_an_error_keeps_it_and_an_empty_one_stays_empty() -> None:
    found = Reranker(translator(0), translator(1)).translate_each(["", "cat " * 90, "A dog barks."], SETTINGS)
    assert [type(each) for each in found] == [Translation, TranslationError, Translation]
    assert [each.text != "" for each in translations(found)] == [False, True]
