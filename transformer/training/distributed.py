"""The processes of one run: `torchrun` starts them, on one machine or several, and each has a number, its rank.

Rank 0 starts or resumes the run, validates and saves; it broadcasts what the others need. At a barrier each rank is
informed whether another one has failed, has received a signal to stop, or ends the run. So an error on one rank ends
all, and rank 0 reports it once. A process that was started without torchrun is rank 0 of 1 and never waits."""

import logging
import os
from contextlib import suppress
from datetime import timedelta
from types import TracebackType
from typing import Self

import torch
import torch.distributed as dist
from torch.distributed.rendezvous import rendezvous

from transformer.device import choose_device
from transformer.errors import DeviceError, HeadlightError, TrainingError

UPDATE_LIMIT = timedelta(minutes=30)  # until all ranks have started, and for one update
BARRIER_LIMIT = timedelta(hours=12)  # rank 0 may prepare a corpus or validate; if it dies, all notice it immediately
EXIT_LIMIT = timedelta(seconds=10)


class Ended(TrainingError):
    """Another rank has failed or has exited."""


class Ranks:
    """The processes of one run: `with Ranks() as ranks`. All do the same, except for what only the
    main one does (`ranks.is_main`).

    On exit, all wait for each other. If an error ends one process, all end: rank 0 raises it, the others exit silently
    with status 1.

    Attributes:
        size: the number of processes.
        rank: the number of this process, from 0.
        local: its number on its machine, from 0.

    Raises:
        TrainingError: not all of them have started; or another one has failed.
    """

    def __init__(self) -> None:
        started = dist.is_available() and dist.is_torchelastic_launched()
        self.size, self.rank, self.local = (
            int(os.environ[name]) if started else alone
            for name, alone in (("WORLD_SIZE", 1), ("RANK", 0), ("LOCAL_RANK", 0))
        )
        self.is_main = self.rank == 0
        self._broadcasts = 0

    def __enter__(self) -> Self:
        if self.size == 1:
            return self
        logger = logging.getLogger("transformer")
        logger.setLevel(logger.level if self.is_main else logging.ERROR)  # so that each message appears once
        try:
            self._store, _, _ = next(rendezvous("env://", timeout=UPDATE_LIMIT))
            dist.init_process_group(
                "gloo", store=self._store, rank=self.rank, world_size=self.size, timeout=UPDATE_LIMIT
            )
            self._barrier_group = dist.new_group(backend="gloo", timeout=BARRIER_LIMIT)
        except (RuntimeError, ValueError) as error:
            if self.local:
                raise SystemExit(1) from None
            raise TrainingError(
                f"The {self.size} processes of this run cannot connect to each other: {error}. Give torchrun on every "
                "machine the same --nnodes and --master-addr, and another --node-rank."
            ) from None
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self.size == 1:
            return
        ended = error
        if is_lost(error):
            ended = has_exited()
        elif error is None or (isinstance(error, HeadlightError | OSError) and not isinstance(error, Ended)):
            try:
                self._exchange(error)
            except Ended as heard:
                ended = error or heard
        elif not isinstance(error, Ended):
            return  # a bug, or out of memory: the others notice that this rank has exited
        if ended is None:
            dist.destroy_process_group()
        elif not self.is_main:
            with suppress(RuntimeError):  # torchrun ends all ranks when one exits: wait for the report of rank 0
                waiting = dist.irecv(torch.empty(1), src=0, group=self._barrier_group)
                assert waiting is not None
                waiting.wait(EXIT_LIMIT)
            raise SystemExit(1) from None
        elif ended is not error:
            raise ended from None

    def barrier(self, ends: bool = False, signal: int = 0) -> tuple[bool, int]:
        """Waits for all ranks.

        Args:
            ends: whether this rank ends the run.
            signal: the number of the signal that this rank has received; 0 for none.

        Returns:
            Whether any rank ends the run, and the largest signal.

        Raises:
            Ended: another rank has failed, or has exited.
        """
        return (ends, signal) if self.size == 1 else self._exchange(None, ends, signal)

    def broadcast(self, value: bytes) -> bytes:
        """Returns rank 0's value on all ranks; what the others pass is ignored."""
        if self.size == 1:
            return value
        self._broadcasts += 1
        key = f"headlight broadcast {self._broadcasts}"
        if self.is_main:
            self._store.set(key, value)
        self.barrier()
        return value if self.is_main else bytes(self._store.get(key))

    def _exchange(self, error: BaseException | None, ends: bool = False, signal: int = 0) -> tuple[bool, int]:
        """One collective, to which each rank contributes a row of numbers. A signal may end a rank anywhere before
        training starts. Two ranks never wait in different collectives then, because this group has no other one."""
        mine = torch.tensor([error is not None, ends, signal])
        rows = [torch.empty_like(mine) for _ in range(self.size)]
        try:
            if error is not None:
                self._store.set(f"headlight error {self.rank}", str(error))
            dist.all_gather(rows, mine, group=self._barrier_group)
            failed = [rank for rank, row in enumerate(rows) if row[0] and rank != self.rank]
            reason = self._store.get(f"headlight error {failed[0]}").decode() if failed else ""
        except RuntimeError:
            raise has_exited() from None
        if failed and error is None:
            raise Ended(f"Rank {failed[0]}: {reason}")
        return any(bool(row[1]) for row in rows), max(int(row[2]) for row in rows)


def device_of_rank(name: str, local_rank: int) -> torch.device:
    """As `choose_device`, for distributed training. Process `local_rank` of a machine, counted from 0, uses the CUDA
    device with this number, which becomes the current device. On a CPU all processes use the same CPU.

    Raises:
        DeviceError: there are fewer devices than processes, or the device does not support several processes.
    """
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    device = choose_device(name)
    if device.type == "mps":
        raise DeviceError("Several processes can train together on cuda and cpu, not on mps. Choose with --device.")
    if device.type == "cpu":
        return device
    if device.index is not None:
        raise DeviceError(f"Each process has a CUDA device of its own, not {name!r}. Choose with --device cuda.")
    if local_rank >= torch.cuda.device_count():
        raise DeviceError(
            f"This machine has {torch.cuda.device_count()} CUDA devices, but torchrun started at least "
            f"{local_rank + 1} processes. Run torchrun with --nproc-per-node {torch.cuda.device_count()}."
        )
    torch.cuda.set_device(local_rank)
    return torch.device("cuda", local_rank)


def is_lost(error: BaseException | None) -> bool:
    """Whether this is the error of a collective after another rank has exited. (gloo has no error class of its own.)"""
    return isinstance(error, RuntimeError) and (isinstance(error, dist.DistError) or "gloo" in str(error))


def has_exited() -> Ended:
    """Another rank has closed its connections without an error message."""
    return Ended(
        "A process of this run has exited: it was killed, or has reported its own error. What was saved last is good; "
        "continue with --resume."
    )
