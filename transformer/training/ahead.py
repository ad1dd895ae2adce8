"""Batches are made ready while a GPU computes with those before them.

A GPU works by itself once it has been told what to do, so the processor has time to gather the next sentences. On a CPU
both would want the same cores: there each batch is made when it is due.
"""

from collections import deque
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import torch

Item = TypeVar("Item")

DEPTH = 3  # batches


def made_for(device: torch.device, items: Iterator[Item]) -> Iterator[Item]:
    """The same items: drawn ahead for a device that computes while the processor does something else."""
    return items if device.type == "cpu" else ahead(items)


def ahead(items: Iterator[Item], depth: int = DEPTH) -> Iterator[Item]:
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
