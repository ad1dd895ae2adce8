"""The alignment error rate (Och & Ney 2003, "A systematic comparison of various statistical alignment models").

    precision = |A and P| / |A|    recall = |A and S| / |S|    AER = 1 - (|A and S| + |A and P|) / (|A| + |S|)

A are the links that were found, S the sure links of the gold alignment, P the possible ones, which include S. An AER of
0 is perfect. For a corpus, the counts of all pairs are summed first. If all gold links are sure, AER = 1 - F1.

A head links each word of the target to the word of the source that has the largest weight. So each target word has
exactly one link. If many words of the gold alignment have no link or several, even the best head does not reach 0.

There are two baselines: the *diagonal*, which depends on the lengths alone, and *chance*, a random word of the source.
"""

from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Annotated

import numpy as np
from pydantic import Field

from transformer.analysis.alignment.gold_alignments import GoldPair, Link

Share = Annotated[float, Field(ge=0, le=1)]


@dataclass(frozen=True)
class Rates:
    """Three shares from 0 to 1, checked when they are read from a file."""

    aer: Share
    precision: Share
    recall: Share


@dataclass
class Counts:
    """The four counts of a corpus, for several aligners (all heads, for example) at once, in arrays (...).

    Attributes:
        links: |A|. It is the same for all aligners, because each aligner gives every word one link.
        sure: |S|.
        in_sure, in_possible: |A and S|, |A and P|, (...).
    """

    links: int = 0
    sure: int = 0
    in_sure: np.ndarray = field(default_factory=lambda: np.zeros(()))
    in_possible: np.ndarray = field(default_factory=lambda: np.zeros(()))

    def add(self, gold: GoldPair, words: np.ndarray, linked: np.ndarray) -> None:
        """Adds one pair.

        Args:
            words: (N) which words of the target are linked.
            linked: (..., N) the word of the source that each is linked to.
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

    def rate(self) -> Rates:
        """The rate of a single aligner."""
        return Rates(float(self.aer), float(self.precision), float(self.recall))


def strongest(weights: np.ndarray) -> np.ndarray:
    """(..., T', S') -> (..., T'): the word of the source with most weight; the first of equals."""
    return weights.argmax(axis=-1)


def diagonal(pairs: list[GoldPair]) -> Rates:
    """The rate if word j of the T' target words is linked to word floor((j + 1/2) S' / T') of the S' source words."""
    counts = Counts()
    for pair in pairs:
        words = np.arange(len(pair.target))
        counts.add(pair, words, (2 * words + 1) * len(pair.source) // (2 * len(pair.target)))
    return counts.rate()


def chance(pairs: list[GoldPair]) -> Rates:
    """The expected rate if each word of the target is linked to a random word of the source."""
    counts = Counts()
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
