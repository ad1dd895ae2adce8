"""What the flat model is made of: the maps of the modules, read out, each stored the way its product reads it.

Products of a few rows take as long as it takes to read the matrix, and what is done around them counts as much.
"""

import math
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention


class Affine(NamedTuple):
    """x W + b."""

    weight: Tensor  # (in, out)
    bias: Tensor | None  # (1, out): one of (out) would first be made that, at each call

    def __call__(self, x: Tensor) -> Tensor:
        """(R, in) -> (R, out)."""
        return x @ self.weight if self.bias is None else torch.addmm(self.bias, x, self.weight)


class PackedAffine(NamedTuple):
    """The same in bfloat16 on a CPU, whose instructions want the numbers of W in pairs. A product of matrices as they
    are packs W anew each time, which for a few rows takes longer than the product."""

    weight: Tensor  # packed by oneDNN
    bias: Tensor | None  # (out)

    def __call__(self, x: Tensor) -> Tensor:
        """(R, in) -> (R, out)."""
        return torch.ops.mkldnn._linear_pointwise(x, self.weight, self.bias, "none", [], "")


class Norm(NamedTuple):
    """LayerNorm."""

    weight: Tensor  # (D)
    bias: Tensor  # (D)
    epsilon: float

    def __call__(self, x: Tensor) -> Tensor:
        """(R, D) -> (R, D)."""
        return torch.layer_norm(x, self.bias.shape, self.weight, self.bias, self.epsilon)


def affine(*linears: nn.Linear) -> Affine | PackedAffine:
    """Several maps of the same input, side by side, as one."""
    weight = torch.cat([linear.weight.detach() for linear in linears])  # (out, in)
    return multiplied(weight, torch.cat([linear.bias.detach() for linear in linears]))


def multiplied(weight: Tensor, bias: Tensor | None) -> Affine | PackedAffine:
    """The map with copies of weight (out, in) and bias (out), in the form that is the fastest where they lie."""
    if weight.is_cpu and weight.dtype == torch.bfloat16 and _packs_bfloat16():
        return PackedAffine(torch.ops.mkldnn._reorder_linear_weight(weight, 1), bias)
    return Affine(weight.t().contiguous(), None if bias is None else bias[None])


def _packs_bfloat16() -> bool:
    """Whether oneDNN is part of this torch, and can use this processor's products of bfloat16."""
    return torch.backends.mkldnn.is_available() and bool(torch.ops.mkldnn._is_mkldnn_bf16_supported())


def norm(module: nn.LayerNorm) -> Norm:
    """Its weights and its epsilon."""
    return Norm(module.weight.detach().clone(), module.bias.detach().clone(), module.eps)


def bias(mask: Tensor, like: Tensor) -> Tensor:
    """What is added to the scores: 0 where a query may look, -inf elsewhere. The mask's shape, the dtype of `like`."""
    return like.new_zeros(mask.shape).masked_fill_(~mask, -math.inf)


def attend(query: Tensor, key: Tensor, value: Tensor, bias: Tensor | None) -> Tensor:
    """Equation 1 for one query or a few: (B, H, Q, E) at keys and values (B, H, K, E) -> (B, H, Q, E).

    On a CPU the fused kernel is the faster one for a few rows, and for one query of many rows in bfloat16 or at fewer
    than 16 keys; else two products and a softmax are faster (torch 2.13).
    """
    rows, _, queries, width = query.shape
    fused = rows * queries < 32 or (queries == 1 and (query.dtype == torch.bfloat16 or key.shape[2] < 16))
    if fused or not query.is_cpu:
        return scaled_dot_product_attention(query, key, value, bias)  # (B, H, Q, E)
    scores = (query / math.sqrt(width)) @ key.transpose(-2, -1)  # (B, H, Q, K)
    if bias is not None:
        scores += bias
    return scores.softmax(dim=-1) @ value  # (B, H, Q, E)
