"""The next batches are prepared while a GPU computes.

A GPU computes asynchronously, so the processor has time to prepare the next batches. On a CPU, both tasks would use the
same cores, so each batch is prepared when it is needed.

For CUDA, batches are also put into pinned memory, from which they are copied asynchronously. Batches and positions are
the same in all cases.
"""

from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future
from queue import SimpleQueue
from threading import Thread
from typing import TypeVar

import torch

from transformer.data.batches import Batch
from transformer.data.training_data import Position

Item = TypeVar("Item")

DEPTH = 3  # batches


def prefetched(device: torch.device, batches: Iterator[tuple[Batch, Position]]) -> Iterator[tuple[Batch, Position]]:
    """The same batches; for a device other than the CPU they are prepared ahead by a thread."""
    if device.type == "cuda":
        batches = pinned(batches, device)
    return batches if device.type == "cpu" else prefetch(batches)


def pinned(batches: Iterator[tuple[Batch, Position]], device: torch.device) -> Iterator[tuple[Batch, Position]]:
    """The same batches in pinned memory, for this CUDA device. To be used by one thread."""
    if device.index is not None:  # each thread starts with device 0: otherwise all ranks would allocate there
        torch.cuda.set_device(device)
    for batch, after in batches:
        yield batch.pinned(), after


def prefetch(items: Iterator[Item], depth: int = DEPTH) -> Iterator[Item]:
    """The items of an endless iterator in their order, taken by a thread, at most `depth` of them ahead.

    An error in taking an item is raised where that item is yielded. When this generator is closed, it does not wait for
    an item that is still being taken: preparing the next epoch may take minutes. The thread ends after that item.
    """
    asked: SimpleQueue[Future[Item] | None] = SimpleQueue()
    Thread(target=_take, args=(items, asked), name="batches", daemon=True).start()
    waiting: deque[Future[Item]] = deque()

    def ask() -> None:
        waiting.append(Future())
        asked.put(waiting[-1])

    try:
        for _ in range(depth):
            ask()
        while True:
            item = waiting.popleft().result()
            ask()
            yield item
    finally:
        for future in waiting:
            future.cancel()
        asked.put(None)


def _take(items: Iterator[Item], asked: "SimpleQueue[Future[Item] | None]") -> None:
    """Takes an item for each future that is asked for, until None."""
    while (future := asked.get()) is not None:
        if not future.set_running_or_notify_cancel():
            continue
        try:
            future.set_result(next(items))
        except BaseException as error:
            future.set_exception(error)
