"""One update: some batches in, one step of Adam.

    gradient = d/dw (sum of the loss over all target pieces of the batches) / their number, then clipped if asked

Several processes share the work (distribution.py); what comes out is the same.
"""

import math
from collections.abc import Iterator

import torch
from torch.nn.utils import clip_grad_norm_
from torch.optim import AdamW

from transformer.config import Recipe
from transformer.errors import TrainingError
from transformer.model import Transformer
from transformer.text.batches import Batch
from transformer.training.data import Position
from transformer.training.device import autocast
from transformer.training.distribution import dropout_seed
from transformer.training.ranks import Ranks
from transformer.training.state import Progress


def one_update(
    model: Transformer,
    optimizer: AdamW,
    batches: Iterator[tuple[Batch, Position]],
    progress: Progress,
    recipe: Recipe,
    rate: float,
    ranks: Ranks,
) -> tuple[float, int, float]:
    """Makes update number `progress.update + 1`, all ranks together, and moves `progress` on.

    Returns: the loss summed over the target pieces of all ranks, how many those were, the norm of the gradient (before
        clipping).

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
            f"{progress.epoch + 1}, rate {rate:.2g}). The last saved state is good. Lower training.peak_rate, raise "
            "training.warmup or set training.clip_norm = 1.0, and start anew."
        )
    for group in optimizer.param_groups:
        group["lr"] = rate
    optimizer.step()
    optimizer.zero_grad()
    after = drawn[-1][1]
    progress.update, progress.epoch, progress.batch = progress.update + 1, after.epoch, after.batch
    progress.tokens += tokens
    return float(total), tokens, norm
