"""The alignment error rate (Och & Ney 2003, "A systematic comparison of various statistical alignment models").

    precision = |A and P| / |A|    recall = |A and S| / |S|    AER = 1 - (|A and S| + |A and P|) / (|A| + |S|)

A are the links that were found, S the sure ones of the gold alignment, P the possible ones, S among them. 0 is perfect.
Over a corpus the counts are summed first. Where all gold links are sure, AER = 1 - F1.

What a head finds: each word of the target is linked to the word of the source that has most of its weight, so A has as
many links as the target has words. No word stays without a link, and none gets several: where a gold alignment has many
such words, the best head stays away from 0.

Two rates tell what a number is worth: that of the *diagonal*, which knows lengths and nothing else, and that of
*chance*, a word of the source drawn at random (what even weights say, on average).
"""

from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from pydantic import Field

from transformer.analysis.alignment.gold_alignments import GoldPair, Link

Share = Annotated[float, Field(ge=0, le=1)]


@dataclass(frozen=True)
class Rate:
    """Three shares, 0 to 1: checked where they are read from a file."""

    aer: Share
    precision: Share
    recall: Share


@dataclass
class Counts:
    """The four counts of a corpus, for as many aligners at once as `shape` says.

    Attributes:
        links: |A|, the same for all of them, as each links every word.
        sure: |S|.
        in_sure, in_possible: |A and S|, |A and P|, of that shape.
    """

    links: int
    sure: int
    in_sure: np.ndarray
    in_possible: np.ndarray

    @classmethod
    def none(cls, shape: tuple[int, ...] = ()) -> "Counts":
        return cls(0, 0, np.zeros(shape), np.zeros(shape))

    def add(self, gold: GoldPair, words: np.ndarray, linked: np.ndarray) -> None:
        """One pair more.

        Args:
            words: (N) which words of the target are linked.
            linked: (..., N) the word of the source to which each is.
        """
        sure, possible = _table(gold, gold.sure), _table(gold, gold.possible)  # (T', S')
        self.links += len(words)
        self.sure += len(gold.sure)
        self.in_sure = self.in_sure + sure[words, linked].sum(axis=-1)  # (..., N) -> (...)
        self.in_possible = self.in_possible + possible[words, linked].sum(axis=-1)

    @property
    def aer(self) -> np.ndarray:
        return 1 - (self.in_sure + self.in_possible) / (self.links + self.sure)

    @property
    def precision(self) -> np.ndarray:
        return self.in_possible / max(self.links, 1)

    @property
    def recall(self) -> np.ndarray:
        return self.in_sure / self.sure

    def rate(self) -> Rate:
        """Of a single aligner."""
        return Rate(float(self.aer), float(self.precision), float(self.recall))


def strongest(weights: np.ndarray) -> np.ndarray:
    """(..., T', S') -> (..., T'): the word of the source with most weight; the first of equals."""
    return weights.argmax(axis=-1)


def diagonal(pairs: list[GoldPair]) -> Rate:
    """Word j of T' is linked to the word of the source at the same share of the sentence, floor((j + 1/2) S' / T')."""
    counts = Counts.none()
    for pair in pairs:
        words = np.arange(len(pair.target))
        counts.add(pair, words, (2 * words + 1) * len(pair.source) // (2 * len(pair.target)))
    return counts.rate()


def chance(pairs: list[GoldPair]) -> Rate:
    """What a word of the source drawn at random for each word of the target gives on average: an exact expectation."""
    counts = Counts.none()
    for pair in pairs:
        counts.links += len(pair.target)
        counts.sure += len(pair.sure)
        counts.in_sure = counts.in_sure + len(pair.sure) / len(pair.source)
        counts.in_possible = counts.in_possible + len(pair.possible) / len(pair.source)
    return counts.rate()


def _table(pair: GoldPair, links: AbstractSet[Link]) -> np.ndarray:
    table = np.zeros((len(pair.target), len(pair.source)), bool)  # (T', S')
    for source, target in links:
        table[target, source] = True
    return table
