"""What the flat model is made of: the maps of the modules, read out, each stored the way its product reads it.

Products of a few rows take as long as it takes to read the matrix, and what is done around them counts as much.
"""

import math
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention


class Product(NamedTuple):
    """x W."""

    weight: Tensor  # (in, out)

    def __call__(self, x: Tensor) -> Tensor:
        """(R, in) -> (R, out)."""
        return x @ self.weight


class Affine(NamedTuple):
    """x W + b."""

    weight: Tensor  # (in, out)
    bias: Tensor  # (1, out): one of (out) would first be made that, at each call

    def __call__(self, x: Tensor) -> Tensor:
        """(R, in) -> (R, out)."""
        return torch.addmm(self.bias, x, self.weight)


class PackedAffine(NamedTuple):
    """The same as oneDNN has it on a CPU: W lies in blocks, in the order in which the product of a few rows reads it,
    and in bfloat16 in pairs of numbers, which its instructions want. A product of matrices as they are packs W anew
    each time, which for a few rows takes longer than the product."""

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
    """Several maps of the same input, side by side, as one, with copies of their weights: in the form that is the
    fastest where they lie."""
    weight = torch.cat([linear.weight.detach() for linear in linears])  # (out, in)
    bias = torch.cat([linear.bias.detach() for linear in linears])  # (out)
    if _is_packed(weight):
        return PackedAffine(_packed(weight), bias)
    return Affine(weight.t().contiguous(), bias[None])


def product(weight: Tensor) -> Product | PackedAffine:
    """The same for weight (out, in), without a bias."""
    weight = weight.detach()
    if _is_packed(weight):
        return PackedAffine(_packed(weight), None)
    return Product(weight.t().contiguous())


def _is_packed(weight: Tensor) -> bool:
    """Whether oneDNN is part of this torch, and can use this processor's products of bfloat16, if it is that."""
    if not weight.is_cpu or not torch.backends.mkldnn.is_available():
        return False
    if weight.dtype == torch.bfloat16:
        return bool(torch.ops.mkldnn._is_mkldnn_bf16_supported())
    return weight.dtype == torch.float32


def _packed(weight: Tensor) -> Tensor:
    """The weight (out, in) in oneDNN's blocks. oneDNN asks for how many rows at a time: for one it would leave float32
    as it is, while the blocks are at least as fast for one row, too (torch 2.13)."""
    return torch.ops.mkldnn._reorder_linear_weight(weight, 32)


def norm(module: nn.LayerNorm) -> Norm:
    """Its weights and its epsilon."""
    return Norm(module.weight.detach().clone(), module.bias.detach().clone(), module.eps)


def attend(query: Tensor, key: Tensor, value: Tensor, bias: Tensor | None) -> Tensor:
    """Equation 1 for one query or a few: (B, H, Q, E) at keys and values (B, H, K, E) -> (B, H, Q, E).

    On a CPU the fused kernel is the faster one for a few rows, and for one query of many rows in float32 at keys that
    do not lie one after the other, as in a cache; else two products and a softmax are faster (torch 2.13).
    """
    queries = query.size(2)
    few = query.size(0) * queries < 32
    scattered = queries == 1 and query.dtype != torch.bfloat16 and not key.is_contiguous()
    if few or scattered or not query.is_cpu:
        return scaled_dot_product_attention(query, key, value, bias)  # (B, H, Q, E)
    scores = (query / math.sqrt(query.size(3))) @ key.transpose(-2, -1)  # (B, H, Q, K)
    if bias is not None:
        scores += bias
    return scores.softmax(dim=-1) @ value  # (B, H, Q, E)
