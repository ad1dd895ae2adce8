"""The processes of one run: `torchrun` starts them, on one machine or several, and each has a number, its rank.

Rank 0 alone begins or resumes the run, validates and saves; what the others need of that, it gives them. In the run's
folder they write what is made of the text, its vocabulary and ids, which is the same on each. Before all compute
together they meet, and there each learns whether another one has failed, was told to stop, or says that the run ends.
So an error on one ends all, and rank 0 tells it, once. A process that was started without torchrun is a rank 0 of 1 and
meets nobody.
"""

import logging
import os
import warnings
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from datetime import timedelta
from types import TracebackType
from typing import Self

import torch
import torch.distributed as dist
from torch import Tensor
from torch.distributed.rendezvous import rendezvous
from torch.nn.parallel import DistributedDataParallel
from torch.optim import AdamW

from transformer.data.batches import Batch
from transformer.errors import HeadlightError, TrainingError
from transformer.model import Transformer
from transformer.training.loss import summed_loss
from transformer.training.sharding import SummedLoss, part

COMPUTING = timedelta(minutes=30)  # until all ranks have come, and for one update
MEETING = timedelta(hours=12)  # one may prepare a corpus or validate meanwhile; if it dies, that is noticed at once
FAREWELL = timedelta(seconds=10)


class Ended(TrainingError):
    """Another rank has failed, or is gone: no other can be waited for."""


class Ranks:
    """The processes of one run: `with Ranks() as ranks`. All do the same, but what `ranks.first` keeps to rank 0.

    On leaving, all wait for each other. Where an error ends one, all end: rank 0 raises it, the others leave in silence
    with exit status 1.

    Attributes:
        size: how many there are. rank: which this one is, from 0. local: which on its machine, from 0.

    Raises:
        TrainingError: not all of them have come; or another one has failed.
    """

    def __init__(self) -> None:
        started = dist.is_available() and dist.is_torchelastic_launched()
        self.size, self.rank, self.local = (
            int(os.environ[name]) if started else alone
            for name, alone in (("WORLD_SIZE", 1), ("RANK", 0), ("LOCAL_RANK", 0))
        )
        self.first = self.rank == 0
        self._given = 0
        self._devices: dist.ProcessGroup | None = None  # the default group, of CPUs
        self._learner: DistributedDataParallel | None = None

    def __enter__(self) -> Self:
        if self.size == 1:
            return self
        logger = logging.getLogger("transformer")
        logger.setLevel(logger.level if self.first else logging.ERROR)  # one voice
        try:
            self._store, _, _ = next(rendezvous("env://", timeout=COMPUTING))
            dist.init_process_group("gloo", store=self._store, rank=self.rank, world_size=self.size, timeout=COMPUTING)
            self._table = dist.new_group(backend="gloo", timeout=MEETING)
        except (RuntimeError, ValueError) as error:
            if self.local:
                raise SystemExit(1) from None
            raise TrainingError(
                f"The {self.size} processes of this run did not find each other: {error}. Give torchrun on every "
                "machine the same --nnodes and --master-addr, and another --node-rank."
            ) from None
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self.size == 1:
            return
        ended = error
        if is_lost(error):
            ended = gone()
        elif error is None or (isinstance(error, HeadlightError | OSError) and not isinstance(error, Ended)):
            try:
                self._exchange(error)
            except Ended as heard:
                ended = error or heard
        elif not isinstance(error, Ended):
            return  # a bug, or no memory left: the others will find this rank gone
        if ended is None:
            dist.destroy_process_group()
        elif not self.first:
            with suppress(RuntimeError):  # torchrun ends all when one leaves, so wait until rank 0 has spoken and gone
                hanging_on = dist.irecv(torch.empty(1), src=0, group=self._table)
                assert hanging_on is not None
                hanging_on.wait(FAREWELL)
            raise SystemExit(1) from None
        elif ended is not error:
            raise ended from None

    # Meetings

    def meet(self, ends: bool = False, signal: int = 0) -> tuple[bool, int]:
        """Waits for all ranks.

        Args:
            ends: the run is to end. signal: the number of the signal that this rank was told to stop by; 0 for none.

        Returns:
            Whether any rank says that the run ends, and the largest signal.

        Raises:
            Ended: another rank came here by an error, or is gone.
        """
        return (ends, signal) if self.size == 1 else self._exchange(None, ends, signal)

    def give(self, value: bytes) -> None:
        """Rank 0 to all others, which `take` it."""
        if self.size > 1:
            self._store.set(self._next_gift(), value)
            self.meet()

    def take(self) -> bytes:
        """What rank 0 `give`s."""
        self.meet()
        return bytes(self._store.get(self._next_gift()))

    def _next_gift(self) -> str:
        self._given += 1
        return f"headlight gift {self._given}"

    def _exchange(self, error: BaseException | None, ends: bool = False, signal: int = 0) -> tuple[bool, int]:
        """One round of everybody's numbers. Nothing else is ever exchanged at the table, and this in one piece, so that
        a signal, which may end a rank anywhere before training begins, never leaves two ranks in different rounds."""
        mine = torch.tensor([error is not None, ends, signal])
        rows = [torch.empty_like(mine) for _ in range(self.size)]
        try:
            if error is not None:
                self._store.set(f"headlight error {self.rank}", str(error))
            dist.all_gather(rows, mine, group=self._table)
            failed = [rank for rank, row in enumerate(rows) if row[0] and rank != self.rank]
            reason = self._store.get(f"headlight error {failed[0]}").decode() if failed else ""
        except RuntimeError:
            raise gone() from None
        if failed and error is None:
            raise Ended(f"Rank {failed[0]}: {reason}")
        return any(bool(row[1]) for row in rows), max(int(row[2]) for row in rows)

    # Computing together

    def join(self, model: Transformer, optimizer: AdamW, update: int, label_smoothing: float) -> None:
        """From here on `loss` adds up gradients; all ranks begin with the weights and moments that rank 0 has after
        `update` updates."""
        if self.size == 1:
            return
        self.meet()  # whoever cannot begin has said so
        device = next(model.parameters()).device
        if device.type == "cuda":
            self._devices = dist.new_group(backend="nccl", timeout=COMPUTING)
        with warnings.catch_warnings(action="ignore", category=FutureWarning):  # torch 2.13 renames broadcast_buffers
            self._learner = DistributedDataParallel(
                SummedLoss(model, label_smoothing),
                process_group=self._devices,
                broadcast_buffers=False,  # the table of positions never changes
                gradient_as_bucket_view=True,
            )
        for parameter in model.parameters() if update else ():
            state = optimizer.state[parameter]
            state.setdefault("step", torch.tensor(float(update), device=device))
            for moment in ("exp_avg", "exp_avg_sq"):
                dist.broadcast(state.setdefault(moment, torch.empty_like(parameter)), 0, group=self._devices)

    def loss(self, model: Transformer, batch: Batch, label_smoothing: float) -> Tensor:
        """The summed loss of this rank's batch; of all ranks the mean of the gradients comes back.

        Trap: the mean, for that is what DistributedDataParallel makes of them, and the sum is due. Whoever calls
        backward multiplies by `size` (test_ranks_learn_what_one_learns).
        """
        if self._learner is None:
            return summed_loss(model, batch, label_smoothing)
        loss: Tensor = self._learner(batch)
        return loss

    def gathers(self, last: bool) -> AbstractContextManager[None]:
        """Gradients travel only with the `last` of several backward passes; those before it are added up at home."""
        return nullcontext() if self._learner is None or last else self._learner.no_sync()

    def part(self, batches: Sequence[Batch]) -> list[Batch]:
        """This rank's part of the batches of one update: as many as every other's."""
        return part(batches, self.rank, self.size)

    def sum(self, value: Tensor) -> Tensor:
        """Over all ranks; a scalar."""
        if self.size > 1:
            dist.all_reduce(value, group=self._devices)
        return value


def is_lost(error: BaseException | None) -> bool:
    """Whether that is how computing together ends when a rank has gone. (gloo has no error of its own.)"""
    return isinstance(error, RuntimeError) and (isinstance(error, dist.DistError) or "gloo" in str(error))


def gone() -> Ended:
    """Another rank's connections are closed, and it has not said why."""
    return Ended(
        "A process of this run is gone: it was killed, or has told its own error. What was saved last is good; go on "
        "with --resume."
    )
