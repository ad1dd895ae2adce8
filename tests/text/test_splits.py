import random

from hypothesis import given
from hypothesis import strategies as st

from transformer.text.splits import set_aside, shared_pairs

Pairs = list[tuple[str, str]]
PAIRS = st.lists(st.tuples(st.sampled_from("abcdefgh"), st.sampled_from("abcdefgh")), max_size=20)


def test_shared_sentences_are_found_on_either_side_whatever_their_case_and_punctuation() -> None:
    train = [("Go!", "Geh!"), ("Good  night.", "Gute Nacht."), ("a", "b")]
    valid = [("go", "Los"), ("Night", "gute Nacht"), ("new", "neu"), ("?", "!"), ("b", "a"), ("x", "a")]
    assert shared_pairs(train, valid) == 2
    assert shared_pairs(iter(train), iter(valid)) == 2
    assert shared_pairs([("?", "x")], [("!", "y"), ("?", "z")]) == 1
    assert shared_pairs([], valid) == shared_pairs(train, []) == 0


@given(PAIRS, PAIRS)
def test_the_count_is_that_of_a_plain_comparison(train: Pairs, valid: Pairs) -> None:
    sources, targets = {s for s, _ in train}, {t for _, t in train}
    assert shared_pairs(train, valid) == sum(s in sources or t in targets for s, t in valid)


@given(PAIRS, st.integers(1, 20), st.integers(0, 9))
def test_what_is_set_aside_shares_no_sentence_with_the_rest(pairs: Pairs, size: int, seed: int) -> None:
    train, valid, dropped = set_aside(pairs, size, seed)
    assert shared_pairs(train, valid) == 0
    assert len(train) + len(valid) + dropped == len(pairs)
    assert len(valid) >= min(size, len(pairs))
    assert set(train) | set(valid) <= set(pairs)


def test_the_choice_depends_on_the_seed_and_not_on_the_order() -> None:
    pairs = [(f"s{i % 400}", f"t{i}") for i in range(500)]
    mixed = random.Random(1).sample(pairs, len(pairs))
    train, valid, dropped = set_aside(pairs, 50, 1)
    assert 50 <= len(valid) <= 51
    assert dropped == 0
    assert sorted(valid) == sorted(set_aside(mixed, 50, 1)[1])
    assert (train, valid, dropped) == set_aside(pairs, 50, 1) != set_aside(pairs, 50, 2)
