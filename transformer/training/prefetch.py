"""The next batches are prepared while a GPU computes.

A GPU computes asynchronously, so the processor has time to prepare the next batches. On a CPU, both tasks would use the
same cores, so each batch is prepared when it is needed.

For CUDA, batches are also put into pinned memory, from which they are copied asynchronously. Batches and positions are
the same in all cases.
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

    An error in taking an item is raised where that item is yielded. The thread ends when this generator is closed.
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
