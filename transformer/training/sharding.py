"""How the work of an update is shared out over several processes, the ranks.

    gradient of an update = 1 / N sum_r gradient of the loss summed over rank r's rows    N: target pieces of all ranks

The recipe alone says what an update is made of: which batches it draws does not depend on the number of ranks. Every
rank draws them all and computes its part of them, so that the paper's batch of 25,000 tokens (section 5.1) on eight
GPUs, as the paper had, is 3,125 on each. Thus two ranks learn what one learns, to rounding, and a run that was stopped
on two goes on on one. Batches are cut only as far as they must be: four accumulated ones on four ranks are one each.
"""

import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from transformer.config import PAD
from transformer.data.batches import Batch
from transformer.model import Transformer
from transformer.training.loss import summed_loss


class SummedLoss(nn.Module):
    """`summed_loss` as a module: DistributedDataParallel watches over the forward pass of one."""

    def __init__(self, model: Transformer, label_smoothing: float):
        super().__init__()
        self.model = model
        self.label_smoothing = label_smoothing

    def forward(self, batch: Batch) -> Tensor:
        """A scalar."""
        return summed_loss(self.model, batch, self.label_smoothing)


def part(batches: Sequence[Batch], rank: int, size: int) -> list[Batch]:
    """Together the parts of all ranks have every row once, and each rank gets as many batches as the others.

    Batches are cut into size / gcd(size, number of batches) pieces, every n-th row to the n-th, because neighbours are
    of like length: so the pieces take about as long as each other.
    """
    pieces = size // math.gcd(size, len(batches))
    return [rows(batch, first, pieces) for batch in batches for first in range(pieces)][rank::size]


def rows(batch: Batch, first: int, step: int) -> Batch:
    """Every `step`-th row from the `first` on. If there is none, a row on which nothing is due. Trap: a rank that had
    nothing to compute would leave the others waiting for its gradients, and not every kernel takes a batch of no rows
    (test_the_parts_of_all_ranks_have_every_row_once_and_are_equally_many)."""
    if step == 1:
        return batch
    source, target, labels = (x[first::step] for x in (batch.source, batch.target, batch.labels))
    if not len(source):
        return Batch(batch.source[:1], batch.target[:1], torch.full_like(batch.labels[:1], PAD), 0)
    return Batch(source, target, labels, int((labels != PAD).sum()))


def dropout_seed(seed: int, update: int, rank: int) -> int:
    """A function of (seed, update, rank) alone. Ranks lie far apart also in the lower 32 bits, which are all that
    torch's generator on the CPU takes (test_every_rank_drops_others)."""
    return seed * 1_000_003 + update + rank * 0x9E3779B1
