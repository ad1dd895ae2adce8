"""Which pairs of a part are kept aside (`aside` of a part of a mix), for a later test.

They are those with the smallest SHA-256 of "first column TAB second column" as the file has them. So the choice depends
on the text alone: it is the same for both translation directions, for any seed, and in every run.
"""

import hashlib

import numpy as np

from transformer.data.corpus import Pair


class Smallest:
    """Finds the `size` pairs of a stream whose hashes are the smallest."""

    def __init__(self, size: int):
        self._size = size
        self._hashes, self._numbers = np.zeros(0, np.uint64), np.zeros(0, np.int64)

    def add(self, hashes: np.ndarray, first: int) -> None:
        """Adds the hashes of consecutive pairs, of which the first has number `first`."""
        hashes = np.concatenate([self._hashes, hashes])
        numbers = np.concatenate([self._numbers, np.arange(first, first + len(hashes) - len(self._hashes))])
        kept = np.argsort(hashes, kind="stable")[: self._size]
        self._hashes, self._numbers = hashes[kept], numbers[kept]

    @property
    def numbers(self) -> np.ndarray:
        """The numbers of the pairs found so far, in ascending order."""
        return np.sort(self._numbers)


def order_hash(pair: Pair, in_file_order: bool) -> bytes:
    """The first 8 bytes of the SHA-256 that decides which pairs are kept aside. `pair` is as the file has it."""
    return hashlib.sha256("\t".join(pair if in_file_order else pair[::-1]).encode()).digest()[:8]
