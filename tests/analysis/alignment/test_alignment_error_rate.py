"""The rate against sets counted one link at a time, and against numbers worked out by hand."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from transformer.analysis.alignment.alignment_error_rate import Counts, chance, diagonal, strongest
from transformer.analysis.alignment.gold_alignments import GoldPair, Link


def pair(source: int, target: int, sure: set[Link], possible: set[Link]) -> GoldPair:
    words = [tuple("w" for _ in range(count)) for count in (source, target)]
    return GoldPair(words[0], words[1], frozenset(sure), frozenset(sure | possible))


# Six words of source, five of target, as in `small.LINE`.
HAND = pair(6, 5, {(0, 0), (1, 1), (2, 2), (3, 3), (5, 4)}, {(4, 4), (0, 2)})


def found(gold: GoldPair, linked: list[int]) -> Counts:
    counts = Counts()
    counts.add(gold, np.arange(len(gold.target)), np.array(linked))
    return counts


def test_the_rate_is_that_worked_out_by_hand() -> None:
    """A = 0-0 1-1 0-2 2-3 4-4: two are sure, four possible, of five; five are sure in all. 1 - (2 + 4) / (5 + 5)."""
    rate = found(HAND, [0, 1, 0, 2, 4]).rate()
    assert rate.aer == pytest.approx(1 - 6 / 10)
    assert rate.precision == pytest.approx(4 / 5)
    assert rate.recall == pytest.approx(2 / 5)


def test_perfect_links_have_no_error_and_wrong_ones_the_maximum() -> None:
    assert found(HAND, [0, 1, 2, 3, 5]).rate().aer == 0
    nothing = found(HAND, [5, 5, 5, 5, 0]).rate()
    assert (nothing.aer, nothing.precision, nothing.recall) == (1, 0, 0)


def test_counts_of_a_corpus_are_summed_before_they_are_divided() -> None:
    other = pair(2, 1, {(1, 0)}, set())
    counts = found(HAND, [0, 1, 2, 3, 5])
    counts.add(other, np.arange(1), np.array([0]))
    assert counts.rate().aer == pytest.approx(1 - (5 + 5) / (6 + 6))


@st.composite
def cases(draw: st.DrawFn) -> tuple[GoldPair, np.ndarray]:
    """A gold pair, and the weights of four heads."""
    source, target = draw(st.integers(1, 6)), draw(st.integers(1, 6))
    cells = st.tuples(st.integers(0, source - 1), st.integers(0, target - 1))
    gold = pair(source, target, draw(st.sets(cells, min_size=1)), draw(st.sets(cells)))
    return gold, np.random.default_rng(draw(st.integers(0, 99))).random((2, 2, target, source))


@given(cases())
def test_every_head_has_the_rate_of_its_own_links(case: tuple[GoldPair, np.ndarray]) -> None:
    gold, weights = case
    counts = Counts()
    counts.add(gold, np.arange(len(gold.target)), strongest(weights))
    for layer, head in np.ndindex(2, 2):
        links = {(max(range(len(gold.source)), key=lambda s: row[s]), t) for t, row in enumerate(weights[layer, head])}
        aer = 1 - Fraction(len(links & gold.sure) + len(links & gold.possible), len(links) + len(gold.sure))
        assert counts.aer[layer, head] == pytest.approx(float(aer))
        assert counts.precision[layer, head] == pytest.approx(len(links & gold.possible) / len(links))
        assert counts.recall[layer, head] == pytest.approx(len(links & gold.sure) / len(gold.sure))


def test_of_equal_weights_the_first_word_is_taken() -> None:
    assert strongest(np.array([[0.2, 0.4, 0.4]])).tolist() == [1]


def test_the_diagonal_depends_on_lengths_alone() -> None:
    assert diagonal([pair(4, 4, {(i, i) for i in range(4)}, set())]).aer == 0
    # Two words of target for six of source: the middles of the halves.
    assert diagonal([pair(6, 2, {(1, 0), (4, 1)}, set())]).aer == 0
    assert diagonal([pair(2, 6, {(i // 3, i) for i in range(6)}, set())]).aer == 0


@given(cases())
def test_chance_is_the_mean_over_all_words(case: tuple[GoldPair, np.ndarray]) -> None:
    gold, _ = case
    draws = Counts()  # each word once for all words of the target: the mean is the same
    every = np.repeat(np.arange(len(gold.source))[:, None], len(gold.target), axis=1)
    draws.add(gold, np.arange(len(gold.target)), every)
    assert chance([gold]).aer == pytest.approx(draws.aer.mean())
    assert chance([gold]).recall == pytest.approx(draws.recall.mean())
