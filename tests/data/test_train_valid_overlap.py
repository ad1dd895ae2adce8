"""Validation pairs that share a sentence with the training text are found."""

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from transformer.data.train_valid_overlap import (
    choose_validation_pairs,
    count_overlap,
    hash_pairs,
    key,
    sentence_hashes,
)

Pairs = list[tuple[str, str]]
PAIRS = st.lists(st.tuples(st.sampled_from("abcdefgh"), st.sampled_from("abcdefgh")), max_size=20)


@pytest.fixture(autouse=True, params=[1, 7, 10**6])
def pairs_looked_at_together(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("transformer.data.train_valid_overlap.AT_ONCE", request.param)


def count_shared(train: Pairs, valid: Pairs) -> int:
    return count_overlap(sentence_hashes(train, 1), sentence_hashes(valid, 1))


def split(pairs: Pairs, size: int, seed: int) -> tuple[Pairs, Pairs, Pairs]:
    """Those to train on, those set aside, and those dropped."""
    valid, dropped = choose_validation_pairs(*sentence_hashes(pairs, seed), size, np.ones(len(pairs), bool))
    assert not (valid & dropped).any()
    learnt, aside, others = (
        [pair for pair, wanted in zip(pairs, mask, strict=True) if wanted]
        for mask in (~valid & ~dropped, valid, dropped)
    )
    return learnt, aside, others


def plain_split(pairs: Pairs, size: int, seed: int) -> tuple[Pairs, Pairs, Pairs]:
    """The same by sorting all sources by their mark."""
    mark = {source: int(sentence_hashes([(source, "")], seed)[0][0]) for source, _ in pairs}
    chosen: set[int] = set()
    for value in sorted(set(mark.values())):
        if sum(mark[source] in chosen for source, _ in pairs) < size:
            chosen.add(value)
    aside = [pair for pair in pairs if mark[pair[0]] in chosen]
    targets = {key(target) for _, target in aside}
    rest = [pair for pair in pairs if mark[pair[0]] not in chosen]
    learnt = [pair for pair in rest if key(pair[1]) not in targets]
    return learnt, aside, [pair for pair in rest if key(pair[1]) in targets]


def test_shared_sentences_are_found_on_both_sides_ignoring_case_and_punctuation() -> None:
    train = [("Go!", "Geh!"), ("Good  night.", "Gute Nacht."), ("a", "b")]
    valid = [("go", "Los"), ("Night", "gute Nacht"), ("new", "neu"), ("?", "!"), ("b", "a"), ("x", "a")]
    assert count_shared(train, valid) == 2
    assert count_shared([("?", "x")], [("!", "y"), ("?", "z")]) == 1
    assert count_shared([], valid) == count_shared(train, []) == 0


def test_words_that_differ_in_a_vowel_sign_are_different() -> None:
    """A vowel sign is a combining mark, no letter."""
    assert len({key(word) for word in ("उसकी", "उसका", "उसके")}) == 3
    assert len({key(word) for word in ("ดี", "ดู")}) == 2
    assert key("उसकी!") == key("उसकी")


@given(PAIRS, PAIRS)
def test_the_count_is_that_of_a_plain_comparison(train: Pairs, valid: Pairs) -> None:
    sources, targets = {s for s, _ in train}, {t for _, t in train}
    assert count_shared(train, valid) == sum(s in sources or t in targets for s, t in valid)


@given(PAIRS, st.integers(1, 20), st.integers(0, 9))
def test_pairs_set_aside_share_no_sentence_with_the_rest(pairs: Pairs, size: int, seed: int) -> None:
    train, valid, dropped = split(pairs, size, seed)
    assert count_shared(train, valid) == 0
    assert sorted(train + valid + dropped) == sorted(pairs)
    assert len(valid) >= min(size, len(pairs))
    assert (train, valid, dropped) == plain_split(pairs, size, seed)


def test_the_choice_depends_on_the_seed_and_not_on_the_order() -> None:
    pairs = [(f"s{i % 400}", f"t{i}") for i in range(500)]
    mixed = random.Random(1).sample(pairs, len(pairs))
    train, valid, dropped = split(pairs, 50, 1)
    assert 50 <= len(valid) <= 51
    assert not dropped
    assert sorted(valid) == sorted(split(mixed, 50, 1)[1])
    assert (train, valid, dropped) == split(pairs, 50, 1) != split(pairs, 50, 2)


def test_only_allowed_pairs_are_set_aside() -> None:
    pairs = [(f"s{i}", f"t{i % 60}") for i in range(100)]
    allowed = np.arange(100) % 3 > 0
    valid, dropped = choose_validation_pairs(*sentence_hashes(pairs, 1), 10, allowed)
    assert valid.sum() == 10
    assert dropped.any()
    assert not ((valid | dropped) & ~allowed).any()


def test_every_character_of_a_pair_changes_its_hash() -> None:
    hashes = hash_pairs([("a", "b"), ("A", "b"), ("a", "b."), ("a b", ""), ("a", "b")])
    assert hashes[0] == hashes[4]
    assert len(np.unique(hashes)) == 4
