"""LayerNorm of the inference copy: a function of a few vectors, without the overhead of a module."""

from typing import NamedTuple

import torch
from torch import Tensor, nn


class Norm(NamedTuple):
    """LayerNorm."""

    weight: Tensor  # (D)
    bias: Tensor  # (D)
    epsilon: float

    def __call__(self, x: Tensor) -> Tensor:
        """(R, D) -> (R, D)."""
        return torch.layer_norm(x, self.bias.shape, self.weight, self.bias, self.epsilon)


def norm(module: nn.LayerNorm) -> Norm:
    """Copies of the weights of a LayerNorm, and its epsilon."""
    return Norm(module.weight.detach().clone(), module.bias.detach().clone(), module.eps)
