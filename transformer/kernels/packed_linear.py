"""Linear maps of a few rows, with weights that are stored in the order in which the product reads them.

    torch.nn.functional.linear(x, weight, bias)                                           (the definition)

A product of a few rows takes as long as reading the matrix. oneDNN multiplies fastest if the weights are stored in its
own blocks (in bfloat16 in pairs, which its instructions need). It packs a plain matrix into blocks at each call, which
for a few rows takes longer than the product. Here a matrix is packed once, or stored transposed if oneDNN is not used.
Measured for 256 x 1,024: 1.8 times as fast for 4 rows, 1.1 times for 128.

Test: tests/kernels/test_packed_linear.py.
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn


class Linear(NamedTuple):
    """x W + b."""

    weight: Tensor  # (in, out)
    bias: Tensor  # (1, out): a bias of shape (out) would be viewed as this shape at each call

    def __call__(self, x: Tensor) -> Tensor:
        """(R, in) -> (R, out)."""
        return torch.addmm(self.bias, x, self.weight)


class LinearWithoutBias(NamedTuple):
    """x W."""

    weight: Tensor  # (in, out)

    def __call__(self, x: Tensor) -> Tensor:
        """(R, in) -> (R, out)."""
        return x @ self.weight


class PackedLinear(NamedTuple):
    """x W + b with weights that oneDNN has packed."""

    weight: Tensor  # in oneDNN's blocks
    bias: Tensor | None  # (out)

    def __call__(self, x: Tensor) -> Tensor:
        """(R, in) -> (R, out)."""
        return torch.ops.mkldnn._linear_pointwise(x, self.weight, self.bias, "none", [], "")


def packed(*linears: nn.Linear) -> Linear | PackedLinear:
    """Several maps of the same input as one map, whose outputs are side by side. It has copies of their weights, in the
    fastest form for their device and dtype."""
    weight = torch.cat([linear.weight.detach() for linear in linears])  # (out, in)
    bias = torch.cat([linear.bias.detach() for linear in linears])  # (out)
    if _can_pack(weight):
        return PackedLinear(_pack(weight), bias)
    return Linear(weight.t().contiguous(), bias[None])


def packed_weight(weight: Tensor, bias: Tensor | None = None) -> Linear | LinearWithoutBias | PackedLinear:
    """As `packed`, for one weight (out, in), with a bias (out) or without."""
    weight, bias = weight.detach(), None if bias is None else bias.detach()
    if _can_pack(weight):
        return PackedLinear(_pack(weight), bias)
    return LinearWithoutBias(weight.t().contiguous()) if bias is None else Linear(weight.t().contiguous(), bias[None])


def _can_pack(weight: Tensor) -> bool:
    """Whether this torch has oneDNN, and oneDNN has products of this dtype for this processor."""
    if not weight.is_cpu or not torch.backends.mkldnn.is_available():
        return False
    if weight.dtype == torch.bfloat16:
        return bool(torch.ops.mkldnn._is_mkldnn_bf16_supported())
    return weight.dtype == torch.float32


def _pack(weight: Tensor) -> Tensor:
    """The weight (out, in) in the blocks that oneDNN chooses for 32 rows. For one row it would not pack a float32
    weight, but with these blocks the product of one row is at least as fast (torch 2.13)."""
    return torch.ops.mkldnn._reorder_linear_weight(weight, 32)
