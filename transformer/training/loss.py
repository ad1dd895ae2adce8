"""The training loss: label-smoothed cross-entropy (paper, section 5.4).

    q'(k) = (1 - epsilon) [k = y] + epsilon / V            loss = -sum_k q'(k) log p(k)

The smoothing mass goes to all V pieces, the target's own share included: so says the paper it comes from (Szegedy et
al. 2016), and so does torch's `label_smoothing`. Others differ, and their losses cannot be compared with ours as they
stand: fairseq spreads epsilon over the V - 1 other pieces (the same loss as ours at epsilon V / (V - 1)), the Annotated
Transformer over V - 2, leaving out padding as well.

The loss is a sum over target pieces, not a mean. Whoever adds up several batches (accumulation, several processes)
divides once by the number of all their pieces. Trap: a mean of means lets pieces in short batches weigh more. Test:
test_four_small_batches_of_unequal_length_give_the_gradient_of_one_large_batch.
"""

import math
from collections.abc import Iterable
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from transformer.config import PAD
from transformer.data.batches import Batch
from transformer.kernels.cross_entropy import linear_cross_entropy
from transformer.model import Transformer


class MeanLoss(NamedTuple):
    """Of a text, without label smoothing. Every target piece weighs the same, whichever batch it is in."""

    loss: float  # nats a piece (</s> counts)
    accuracy: float  # share of pieces that the model ranks first

    @property
    def perplexity(self) -> float:
        """Of a piece; that of a loss above 50 nats is told as that of 50, which JSON can write."""
        return math.exp(min(50.0, self.loss))


def summed_loss(model: Transformer, batch: Batch, label_smoothing: float) -> Tensor:
    """The loss in nats, summed over the target pieces of the batch (</s> counts, padding does not): a scalar.

    Only positions that count are projected to the vocabulary, so padding costs nothing where it would cost most.
    """
    states = model.states(batch.source, batch.target)  # (B, T, D)
    counts = batch.labels != PAD  # (B, T)
    return linear_cross_entropy(states[counts], model.output.weight, batch.labels[counts], label_smoothing)


@torch.inference_mode()
def negative_log_likelihood(model: Transformer, batch: Batch) -> tuple[float, int]:
    """For validation: -log p of the target pieces without smoothing, summed, and how many the model ranks first."""
    counts = batch.labels != PAD  # (B, T)
    logits = model.project(model.states(batch.source, batch.target)[counts]).float()  # (N, V)
    labels = batch.labels[counts]  # (N)
    return float(cross_entropy(logits, labels, reduction="sum")), int((logits.argmax(dim=-1) == labels).sum())


def mean_loss(model: Transformer, batches: Iterable[Batch]) -> MeanLoss:
    """Over all target pieces of the batches, of which there must be one at least; each goes to the model's device."""
    device = next(model.parameters()).device
    total, right, pieces = 0.0, 0, 0
    for batch in batches:
        loss, correct = negative_log_likelihood(model, batch.to(device))
        total, right, pieces = total + loss, right + correct, pieces + batch.target_tokens
    return MeanLoss(total / pieces, right / pieces)
