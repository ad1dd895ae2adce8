"""Which rows of each batch a rank computes. The batches of an update are the same for any number of ranks.

A batch is cut into as few parts as possible. If R ranks share the A batches of an update, each batch is cut into
n = R / gcd(R, A) parts. For example, four ranks do not cut four batches: each rank computes one of them. A part has
every n-th row of its batch. Neighbouring rows have similar lengths, so all parts take about the same time. A rank reads
and pads only the rows of its part, to the width of the whole batch.
"""

import math
from dataclasses import dataclass

import numpy as np

from transformer.data.batches import Batch, BatchSize, collate
from transformer.data.encoded_pairs import EncodedPairs


@dataclass(frozen=True)
class Share:
    """The share of one rank in the batches of an update. By default one rank computes all of them."""

    rank: int = 0
    ranks: int = 1
    accumulate: int = 1  # batches that make an update

    def rows(self, number: int) -> slice | None:
        """This rank's rows of batch `number` of an update, counted from 0. None: other ranks compute the batch."""
        parts = self.ranks // math.gcd(self.ranks, self.accumulate)
        mine = (first for first in range(parts) if (number * parts + first) % self.ranks == self.rank)
        return next((slice(first, None, parts) for first in mine), None)

    def batch(self, pairs: EncodedPairs, indices: np.ndarray, number: int) -> Batch:
        """This rank's part of batch `number` of an update, counted from 0; empty if other ranks compute the batch.

        Args:
            indices: the indices of all pairs in the whole batch.

        Trap: if the batch has fewer rows than parts, no row is left for some parts. Such a part gets the first row of
        the batch, without targets. With 0 rows, its rank would compute no gradients, for which the others would wait,
        and not every kernel accepts a batch of 0 rows
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
