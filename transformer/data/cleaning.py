"""Cleaning: pairs of little use are left out and counted.

Crawled text has lines that were not translated (a side is empty, or a copy of the other), that were aligned wrongly
(one side many times as long as the other), and repeated pairs. Pairs with an empty side are always left out, the other
kinds only if the recipe says so ([data] max_ratio, drop_copies, drop_duplicates). Pairs with more than data.max_length
tokens are left out when the text is encoded. Lines that cannot be read at all: skipped_lines.py.
"""

import json
from dataclasses import asdict, astuple, dataclass
from itertools import pairwise
from pathlib import Path
from typing import Literal, Self

import numpy as np

from transformer.data.data_options import DataConfig
from transformer.errors import CorpusError
from transformer.files.strict_json import parse_json

Fault = Literal["empty", "copies", "unequal", "no_numbers"]
AT_ONCE = 4_000_000  # hashes that are sorted in memory together: about 100 MB


@dataclass
class Counts:
    """How many pairs of a corpus were used or left out. `read` + `repeats` is the sum of all other counts except
    `shared`."""

    read: int = 0
    skipped: int = 0  # lines that cannot be read, if on_error = "skip"
    repeats: int = 0  # further copies of pairs, because their part of a mix has a weight above 1
    empty: int = 0  # one side is empty
    copies: int = 0  # the two sides are the same
    unequal: int = 0  # one side has more than max_ratio times the characters of the other
    no_numbers: int = 0  # in a part with only = "numbers": no time, price or date
    duplicates: int = 0  # the same pair occurred before
    aside: int = 0  # kept aside for a test (`aside` of a part of a mix)
    like_aside: int = 0  # share a sentence with a pair kept aside
    validation: int = 0  # set aside for validation
    like_validation: int = 0  # share a sentence with a pair set aside for validation
    too_long: int = 0  # more than max_length tokens
    learnt: int = 0  # for training, repeats included
    shared: int = 0  # pairs of the given validation text that are also in the training text

    def __add__(self, other: "Counts") -> "Counts":
        return Counts(*(one + two for one, two in zip(astuple(self), astuple(other), strict=True)))

    def write(self, path: Path) -> None:
        path.write_text(json.dumps(asdict(self), indent=1) + "\n", encoding="utf-8")

    @classmethod
    def from_file(cls, path: Path) -> Self:
        return cls(**parse_json(path.read_text(encoding="utf-8")))

    def __str__(self) -> str:
        """One line of text, without the counts that are 0."""
        what = {
            "that cannot be read": self.skipped,
            "with an empty side": self.empty,
            "the same on both sides": self.copies,
            "of too unequal length": self.unequal,
            "without a time, price or date": self.no_numbers,
            "duplicates": self.duplicates,
            "kept aside": self.aside,
            "that share a sentence with those": self.like_aside,
            "set aside for validation": self.validation,
            "that resemble those": self.like_validation,
            "too long": self.too_long,
        }
        parts = [f"{count:,} {name}" for name, count in what.items() if count]
        repeats = f" ({self.repeats:,} of them repeats)" if self.repeats else ""
        return f"{self.read:,} pairs read: {', '.join([*parts, f'{self.learnt:,} to learn from{repeats}'])}."


def fault(source: str, target: str, config: DataConfig) -> Fault | None:
    """The first reason that applies for leaving a pair out; None if it is kept. Lengths are in characters."""
    if not (source and target):
        return "empty"
    if config.drop_copies and source == target:
        return "copies"
    lengths = len(source), len(target)
    if config.max_ratio is not None and max(lengths) > config.max_ratio * min(lengths):
        return "unequal"
    return None


def nothing_learnt(counts: Counts, config: DataConfig, fewer: int | None) -> CorpusError:
    """The error for text from which no pair is left for training.

    Args:
        fewer: a lower valid_size, with which a pair would be left for training; None if there is none.
    """
    advice = []
    if counts.validation and fewer:
        advice.append(
            f"Lower data.valid_size = {config.valid_size}, for example to {fewer}, or give "
            "separate validation text (data.valid)."
        )
    elif counts.validation:
        advice.append(
            "Are these the right columns? The usable pairs share their source or target sentences, so they cannot be "
            "divided into training and validation: give more text, or separate validation text (data.valid)."
        )
    if counts.copies:
        advice.append("Are these the right columns? If copies are wanted, set data.drop_copies = false.")
    if counts.unequal:
        advice.append("Are these the right columns? If so, raise data.max_ratio.")
    return CorpusError(f"{counts} {' '.join(advice) or 'Give other text.'}")


def repeated(hashes: np.ndarray) -> np.ndarray:
    """For each of many 64-bit hashes, whether it occurred earlier in the array: boolean.

    It processes one range of values at a time, so that only a part of a mapped file is sorted in memory.
    """
    before = np.zeros(len(hashes), bool)
    ranges = -(-len(hashes) // AT_ONCE)
    bounds = [number * 2**64 // max(ranges, 1) for number in range(ranges + 1)]
    for low, high in pairwise(bounds):
        inside = (hashes >= np.uint64(low)) & (hashes <= np.uint64(high - 1))
        places = np.flatnonzero(inside)
        order = np.argsort(hashes[places], kind="stable")
        values = hashes[places][order]
        again = np.concatenate([[False], values[1:] == values[:-1]]) if len(values) else np.zeros(0, bool)
        before[places[order[again]]] = True
    return before
