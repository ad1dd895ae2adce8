"""How the ranks share the work of an update, and add up their gradients.

    gradient of an update = 1 / N sum_r gradient of the loss summed over rank r's rows    N: target tokens of all ranks

The batches of an update depend on the recipe, not on the number of ranks. Every rank computes its part of them
(data/batch_parts.py), so the paper's batch of 25,000 tokens (section 5.1) on eight GPUs is 3,125 on each. Without
dropout two ranks learn what one learns, to rounding; with dropout each rank drops other units. A run that was stopped
on two ranks can be resumed on one.
"""

import warnings
from contextlib import AbstractContextManager, nullcontext

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel
from torch.optim import AdamW

from transformer.data.batches import Batch
from transformer.model import Transformer
from transformer.training.distributed import UPDATE_LIMIT, Ranks
from transformer.training.loss import summed_loss


class DataParallel:
    """Connects the model of this rank with those of the other ranks, which make an update together."""

    def __init__(self, ranks: Ranks, model: Transformer, label_smoothing: float):
        self.ranks = ranks
        self._loss = SummedLoss(model, label_smoothing)
        self._distributed: DistributedDataParallel | None = None
        self._devices: dist.ProcessGroup | None = None  # None: the default group, for CPUs

    def connect(self, optimizer: AdamW, update: int) -> None:
        """From this call on, gradients are added up over all ranks. All ranks get the weights and moments that rank 0
        has after `update` updates."""
        if self.ranks.size == 1:
            return
        self.ranks.barrier()  # a rank that cannot start has reported why
        device = next(self._loss.parameters()).device
        if device.type == "cuda":
            self._devices = dist.new_group(backend="nccl", timeout=UPDATE_LIMIT)
        with warnings.catch_warnings(action="ignore", category=FutureWarning):  # torch 2.13 renames broadcast_buffers
            self._distributed = DistributedDataParallel(
                self._loss,
                process_group=self._devices,
                broadcast_buffers=False,  # the table of positions is computed, not trained
                gradient_as_bucket_view=True,
            )
        for parameter in self._loss.model.parameters() if update else ():
            state = optimizer.state[parameter]
            state.setdefault("step", torch.tensor(float(update), device=device))
            for moment in ("exp_avg", "exp_avg_sq"):
                dist.broadcast(state.setdefault(moment, torch.empty_like(parameter)), 0, group=self._devices)

    def loss(self, batch: Batch) -> Tensor:
        """The summed loss of this rank's batch, a scalar; its gradient is the mean over the ranks.

        Trap: DistributedDataParallel computes the mean of the gradients, but the sum is needed. So the caller
        multiplies the loss by the number of ranks before backward (test_ranks_learn_what_one_learns).
        """
        loss: Tensor = (self._distributed or self._loss)(batch)
        return loss

    def synchronised(self, last: bool) -> AbstractContextManager[None]:
        """Gradients are exchanged only in the `last` of several backward passes; until then each rank adds up its
        own gradients."""
        return nullcontext() if self._distributed is None or last else self._distributed.no_sync()

    def sum(self, value: Tensor) -> Tensor:
        """The sum of a scalar over all ranks."""
        if self.ranks.size > 1:
            dist.all_reduce(value, group=self._devices)
        return value


class SummedLoss(nn.Module):
    """`summed_loss` as a module, which DistributedDataParallel needs."""

    def __init__(self, model: Transformer, label_smoothing: float):
        super().__init__()
        self.model = model
        self.label_smoothing = label_smoothing

    def forward(self, batch: Batch) -> Tensor:
        """A scalar."""
        return summed_loss(self.model, batch, self.label_smoothing)
