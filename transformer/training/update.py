"""One update of the weights (paper, section 5.3): some batches in, one step of Adam.

    gradient = d/dw (sum of the loss over all target pieces of the batches) / their number, then clipped if asked

Several processes share the work (distribution.py); what comes out is the same.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch.nn.utils import clip_grad_norm_
from torch.optim import AdamW

from transformer.config import Recipe
from transformer.data.batches import Batch
from transformer.data.training_data import Position
from transformer.errors import TrainingError
from transformer.model import Transformer
from transformer.training.device import autocast
from transformer.training.distributed import Ranks
from transformer.training.divergence import GO_ON
from transformer.training.flops import training_flop
from transformer.training.sharding import dropout_seed
from transformer.training.training_state import Progress


@dataclass(frozen=True)
class Update:
    """What one update was made of, all ranks together."""

    loss: float  # nats, summed over the target pieces
    tokens: int  # so many those were
    gradient_norm: float  # before clipping
    flop: int  # floating-point operations of its products


def one_update(
    model: Transformer,
    optimizer: AdamW,
    batches: Iterator[tuple[Batch, Position]],
    progress: Progress,
    recipe: Recipe,
    rate: float,
    ranks: Ranks,
) -> Update:
    """Makes update number `progress.update + 1`, all ranks together, and moves `progress` on.

    Raises:
        TrainingError: the loss is no number; weights and the files on disk are those of the update before.
    """
    settings, device = recipe.training, next(model.parameters()).device
    model.train()
    torch.manual_seed(dropout_seed(settings.seed, progress.update, ranks.rank))
    drawn = [next(batches) for _ in range(settings.accumulate)]
    tokens = sum(batch.target_tokens for batch, _ in drawn)
    part = ranks.part([batch for batch, _ in drawn])
    total = torch.zeros((), device=device)
    ranks.meet()  # whoever has no batch has said so
    for number, batch in enumerate(part, start=1):
        with ranks.gathers(last=number == len(part)):
            with autocast(device, settings.precision):
                loss = ranks.loss(model, batch.to(device), settings.label_smoothing)
            (loss * ranks.size / tokens).backward()
        total += loss.detach()
    total = ranks.sum(total)
    norm = float(clip_grad_norm_(model.parameters(), settings.clip_norm or math.inf))
    if not math.isfinite(norm):
        raise TrainingError(
            f"The loss or its gradient is no longer a number at update {progress.update + 1} (epoch "
            f"{progress.epoch + 1}, rate {rate:.2g}). The last saved state is good. {GO_ON}"
        )
    for group in optimizer.param_groups:
        group["lr"] = rate
    optimizer.step()
    optimizer.zero_grad()
    after = drawn[-1][1]
    progress.update, progress.epoch, progress.batch = progress.update + 1, after.epoch, after.batch
    progress.tokens += tokens
    flop = sum(training_flop(recipe.model, batch) for batch, _ in drawn)
    return Update(float(total), tokens, norm, flop)
