"""What was measured in updates: numbers that stay on the device until they are read.

A GPU computes what it was given while the program prepares what comes next. Reading a number waits until the GPU has
computed everything before it, and then the GPU waits for the program. So the losses and norms of several updates are
read together.
"""

from dataclasses import dataclass, replace

import torch
from torch import Tensor

READ_EVERY = 10  # updates, at most, until they are read from a GPU


@dataclass(frozen=True)
class Update:
    """What was measured in one update, all ranks together."""

    number: int  # counted from 1
    loss: float  # nats, summed over the target tokens
    tokens: int  # the number of target tokens
    gradient_norm: float  # before clipping
    flop: int  # floating-point operations of its matrix products
    rate: float  # the learning rate


class Measurements:
    """The updates that were not read yet."""

    def __init__(self) -> None:
        self._updates: list[Update] = []
        self._numbers: list[tuple[Tensor, Tensor]] = []

    def __len__(self) -> int:
        return len(self._updates)

    def add(self, update: Update, loss: Tensor, gradient_norm: Tensor) -> None:
        """`update` lacks its loss and its norm, which are given as scalars on the device."""
        self._updates.append(update)
        self._numbers.append((loss, gradient_norm))

    def read(self) -> list[Update]:
        """All updates since the last call, after waiting for the device."""
        if not self._updates:
            return []
        losses, norms = (torch.stack(numbers).tolist() for numbers in zip(*self._numbers, strict=True))
        read = [
            replace(update, loss=loss, gradient_norm=norm)
            for update, loss, norm in zip(self._updates, losses, norms, strict=True)
        ]
        self._updates, self._numbers = [], []
        return read
