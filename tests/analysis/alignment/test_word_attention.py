"""Each token belongs to a word; attention between words sums over source tokens and averages over target tokens."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.views.attention.soft_alignment import word_alignment
from transformer.analysis.alignment.word_attention import SHIFTS, Sentence, sentence, word_weights, written
from transformer.config import TokenizerConfig
from transformer.text.tokenizer import Tokenizer

TEXT = ["das alte haus ist klein, nicht wahr?", "the old house is rather small, is it not?", "herr präsident!"]


@cache
def trained() -> Tokenizer:
    return Tokenizer.train(TEXT, TokenizerConfig(kind="bpe", vocab_size=330))


def made(word: list[int]) -> Sentence:
    return Sentence("", tuple(range(9, 9 + len(word))), np.array(word), max(word) + 1)


def test_closing_punctuation_loses_the_space_before_it() -> None:
    assert written(["nicht", "wahr", "?", "(", "ja", ")", ",", "...", "50", "%"]) == "nicht wahr? ( ja),... 50%"
    assert written([",", "so"]) == ", so"


WORDS = st.lists(
    st.sampled_from(["haus", "klein", ",", "?", "präsident", "🙂", "&quot;", "eu-haushalt", "'s", "x"]),
    min_size=1,
    max_size=7,
)


@given(WORDS)
def test_the_tokens_of_each_word_spell_it(words: list[str]) -> None:
    tokenizer = trained()
    found = sentence(words, tokenizer)
    assert tokenizer.encode(found.text) == list(found.ids)
    for number, word in enumerate(words):
        ids = [id for id, owner in zip(found.ids, found.word, strict=True) if owner == number]
        assert tokenizer.decode(ids).strip() == word


def test_source_tokens_are_summed_and_target_tokens_averaged() -> None:
    weights = np.random.default_rng(0).dirichlet(np.ones(4), size=(2, 4))  # (H, T, S), </s> the last of both
    source, target = made([0, 1, 1]), made([0, 0, 1])
    for shift, first in (("predicts", 0), ("reads", 1)):
        words, found = word_weights(weights, source, target, shift)  # type: ignore[arg-type]
        assert words.tolist() == [0, 1]
        for head in range(2):
            rows = weights[head, first : first + 3]
            assert found[head, 0, 0] == pytest.approx((rows[0, 0] + rows[1, 0]) / 2)
            assert found[head, 0, 1] == pytest.approx((rows[0, 1] + rows[0, 2] + rows[1, 1] + rows[1, 2]) / 2)
            assert found[head, 1, 1] == pytest.approx(rows[2, 1] + rows[2, 2])


def test_a_word_without_a_token_has_no_row() -> None:
    weights = np.full((3, 3), 1 / 3)
    words, found = word_weights(weights, made([0, 1]), Sentence("", (9, 9), np.array([0, 2]), 3), "predicts")
    assert words.tolist() == [0, 2]
    assert found.shape == (2, 2)


@pytest.mark.parametrize("shift", SHIFTS)
def test_the_app_merges_tokens_in_the_same_way(shift: str) -> None:
    source, target = ("▁the", "▁hou", "se", "</s>"), ("▁das", "▁ha", "us", "</s>")
    weights = np.random.default_rng(1).dirichlet(np.ones(4), size=(1, 4))  # (1, T, S)
    page = word_alignment(weights, source, target, shift)  # type: ignore[arg-type]
    ours = word_weights(weights[0], made([0, 1, 1]), made([0, 1, 1]), shift)[1]  # type: ignore[arg-type]
    assert page.weights == pytest.approx(ours, abs=1e-6)
