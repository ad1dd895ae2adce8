"""The edit that removes a part: its site becomes 0.

It is a class and not a function, so that the inference copy of the model (transformer/decoding/fast) can recognise it
and leave the part out.
"""

from dataclasses import dataclass

import torch
from torch import Tensor


def is_head(head: int, tensor: Tensor) -> Tensor:
    """(H, 1, 1) boolean: which part of a tensor (B, H, Q, …) is that of this head."""
    return torch.arange(tensor.shape[1], device=tensor.device)[:, None, None] == head


@dataclass(frozen=True)
class Zero:
    """A tensor becomes 0.

    Attributes:
        head: only the part of this head in a tensor (B, H, Q, …) becomes 0; None: the whole tensor.
    """

    head: int | None = None

    def __call__(self, now: Tensor) -> Tensor:
        """Returns a tensor of the same shape."""
        if self.head is None:
            return torch.zeros_like(now)
        return now.masked_fill(is_head(self.head, now), 0.0)  # (B, H, Q, …)
