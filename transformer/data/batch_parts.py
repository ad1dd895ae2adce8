"""Which rows of each batch a rank computes. The batches of an update are the same for any number of ranks.

A batch is cut only as far as necessary: of A batches that make an update on R ranks, each is cut into
n = R / gcd(R, A) parts; of four batches, each of four ranks computes one. A part has every n-th row, because neighbours
have similar lengths: so the parts take about the same time. Only these rows are read and padded, as wide as the whole
batch.
"""

import math
from dataclasses import dataclass

import numpy as np

from transformer.data.batches import Batch, BatchSize, collate
from transformer.data.encoded_pairs import EncodedPairs


@dataclass(frozen=True)
class Share:
    """The share of one rank in the batches of an update. By default there is one rank, which computes them all."""

    rank: int = 0
    ranks: int = 1
    accumulate: int = 1  # batches that make an update

    def rows(self, number: int) -> slice | None:
        """The rows of batch `number` of an update, from 0; None: other ranks compute it."""
        parts = self.ranks // math.gcd(self.ranks, self.accumulate)
        mine = (first for first in range(parts) if (number * parts + first) % self.ranks == self.rank)
        return next((slice(first, None, parts) for first in mine), None)

    def batch(self, pairs: EncodedPairs, indices: np.ndarray, number: int) -> Batch:
        """This rank's part of batch `number` of an update, from 0. It has no rows where other ranks compute the batch.

        Args:
            indices: those of the pairs of the whole batch.

        Trap: if the batch has fewer rows than parts, the part has a row without targets. The others would wait for the
        gradients of a rank without rows, and not every kernel accepts a batch of 0 rows
        (test_the_parts_of_all_ranks_have_every_row_once_and_are_equally_many).
        """
        if self.ranks == 1:
            return collate(*pairs.select(indices))
        sources, targets = pairs.lengths_of(indices)
        size = BatchSize(
            len(indices), int(sources.max()) + 1, int(targets.max()) + 1, int(targets.sum()) + len(indices)
        )
        rows = self.rows(number)
        mine = indices[:0] if rows is None else indices[rows]
        if rows is not None and not len(mine):
            return collate(*pairs.select(indices[:1]), size).without_targets()
        return collate(*pairs.select(mine), size)
