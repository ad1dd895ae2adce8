"""The training loss: label-smoothed cross-entropy (paper, section 5.4).

    q'(k) = (1 - epsilon) [k = y] + epsilon / V            loss = -sum_k q'(k) log p(k)

The smoothing mass goes to all V tokens, the target included, as in the paper that introduced it (Szegedy et al. 2016)
and in torch's `label_smoothing`. Other programs differ, and their losses cannot be compared with ours: fairseq divides
epsilon among the V - 1 other tokens (the same loss as ours at epsilon V / (V - 1)), the Annotated Transformer among
V - 2 tokens, without the target and padding.

The loss is a sum over target tokens, not a mean. Code that adds up several batches (accumulation, several processes)
divides once by the number of all their tokens. Trap: in a mean of means, tokens of short batches weigh more. Test:
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
    """The mean over all target tokens of a text, without label smoothing."""

    loss: float  # nats per token (</s> counts)
    accuracy: float  # share of tokens that the model ranks first

    @property
    def perplexity(self) -> float:
        """Per token. For a loss above 50 nats it is that of 50 nats, because JSON has no infinity."""
        return math.exp(min(50.0, self.loss))


def summed_loss(model: Transformer, batch: Batch, label_smoothing: float) -> Tensor:
    """The loss in nats, summed over the target tokens of the batch (</s> counts, padding does not): a scalar.

    Only positions that are not padding are projected to the vocabulary, because that is the most expensive product.
    """
    labels = batch.labels.flatten()  # (B * T)
    # Trap: a boolean mask as index, states[labels != PAD], would wait for a GPU, to know how many rows it selects. Here
    # the number is known (test_an_update_on_a_gpu_reads_nothing_from_it).
    places = torch.nonzero_static(labels != PAD, size=batch.target_tokens).squeeze(1)  # (N)
    states = model.decoder_output(batch.source, batch.target).flatten(0, 1)[places]  # (N, D)
    if model.output_bias is not None:
        logits = model.project(states)  # (N, V)
        return cross_entropy(logits, labels[places], reduction="sum", label_smoothing=label_smoothing)
    return linear_cross_entropy(states, model.output.weight, labels[places], label_smoothing)


@torch.inference_mode()
def negative_log_likelihood(model: Transformer, batch: Batch) -> tuple[float, int]:
    """For validation: -log p of the target tokens without smoothing, summed, and how many of them the model ranks
    first."""
    counts = batch.labels != PAD  # (B, T)
    logits = model.project(model.decoder_output(batch.source, batch.target)[counts]).float()  # (N, V)
    labels = batch.labels[counts]  # (N)
    return float(cross_entropy(logits, labels, reduction="sum")), int((logits.argmax(dim=-1) == labels).sum())


def mean_loss(model: Transformer, batches: Iterable[Batch]) -> MeanLoss:
    """The mean over all target tokens of the batches; there must be at least one. Each batch is moved to the device of
    the model."""
    device = next(model.parameters()).device
    total, right, tokens = 0.0, 0, 0
    for batch in batches:
        loss, correct = negative_log_likelihood(model, batch.to(device))
        total, right, tokens = total + loss, right + correct, tokens + batch.target_tokens
    return MeanLoss(total / tokens, right / tokens)
