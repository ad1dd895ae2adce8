"""Batches are made ready while a GPU computes with those before them.

A GPU works by itself once it has been told what to do, so the processor has time to gather the next sentences. On a CPU
both would want the same cores: there each batch is made when it is due.

For CUDA they are also put where the GPU fetches them by itself, so that nobody waits for the copy; that is one line of
the update. What is drawn, and the position that goes with it, is the same in all cases.
"""

from collections import deque
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import torch

from transformer.data.batches import Batch
from transformer.data.training_data import Position

Item = TypeVar("Item")

DEPTH = 3  # batches


def prefetched(device: torch.device, batches: Iterator[tuple[Batch, Position]]) -> Iterator[tuple[Batch, Position]]:
    """The same batches: drawn ahead for a device that computes while the processor does something else."""
    if device.type == "cuda":
        batches = pinned(batches, device)
    return batches if device.type == "cpu" else prefetch(batches)


def pinned(batches: Iterator[tuple[Batch, Position]], device: torch.device) -> Iterator[tuple[Batch, Position]]:
    """The same batches, where this CUDA device fetches them from. To be drawn from by one thread."""
    if device.index is not None:  # each thread begins with device 0: all ranks would open it, and take memory there
        torch.cuda.set_device(device)
    for batch, after in batches:
        yield batch.pinned(), after


def prefetch(items: Iterator[Item], depth: int = DEPTH) -> Iterator[Item]:
    """The items of an endless iterator in their order, drawn by a thread, at most `depth` before they are due.

    What goes wrong in drawing one is raised where that one is due. The thread ends when this generator is closed.
    """
    pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="batches")
    try:
        waiting = deque(pool.submit(next, items) for _ in range(depth))
        while True:
            item = waiting.popleft().result()
            waiting.append(pool.submit(next, items))
            yield item
    finally:
        pool.shutdown(cancel_futures=True)
