"""Attention without a probe, on the fastest path for its sizes.

    scaled_dot_product_attention(query, key, value, mask, dropout_rate)                   (the definition)

torch's fused kernel computes equation 1 in one pass and stores no scores. On a CPU it multiplies the matrices of each
sentence and head one after the other. With few keys these are thousands of small matrices, and a call for each takes
longer than its product. Batched products of all heads at once have no such cost, and the scores they store are small as
long as the keys are few. Measured for 32 sentences of 20 tokens with 8 heads of width 32, forward and backward:
10 times as fast in float32 (with oneDNN's products, see matmul.py; with MKL's, the fused kernel is faster) and 6 times
in bfloat16; for one step of a beam of 4, 2.9 times.

Tests: tests/kernels/test_fast_attention.py, and test_probed_equals_unprobed_equals_cached for whole models.
"""

import math

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from transformer.kernels.dropout import dropout

FEW_KEYS = 128  # up to here batched products are faster on a CPU than the fused kernel


def attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, dropout_rate: float = 0.0) -> Tensor:
    """Equation 1.

    Args:
        query: (B, H, Q, E). key, value: (B, H, K, E).
        mask: boolean, True = may attend, broadcastable to (B, H, Q, K); None = every query may attend to every key.
        dropout_rate: on the weights.

    Returns:
        (B, H, Q, E). For a query that may attend to no key, the output and the gradient are 0.
    """
    if query.is_cpu and query.dtype in (torch.bfloat16, torch.float16):
        # In float32: the backward pass of the kernel is slower in 16 bits, and sums over keys need more digits.
        with torch.autocast("cpu", enabled=False):
            exact = attention(query.float(), key.float(), value.float(), mask, dropout_rate)  # (B, H, Q, E)
        return exact.to(query.dtype)  # (B, H, Q, E)
    # Compiled code takes the fused kernel: `batched_products` reads values of the mask, which breaks the graph.
    if query.is_cpu and not torch.compiler.is_compiling() and key.size(2) <= FEW_KEYS:
        return batched_products(query, key, value, mask, dropout_rate)  # (B, H, Q, E)
    return scaled_dot_product_attention(query, key, value, mask, dropout_rate)  # (B, H, Q, E)


def batched_products(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, dropout_rate: float) -> Tensor:
    """`attention` in few passes over the scores: the queries are divided instead of the scores, the mask is added."""
    scores = (query / math.sqrt(query.shape[-1])) @ key.transpose(-2, -1)  # (B, H, Q, K)
    if mask is None:
        return dropout(scores.softmax(dim=-1), dropout_rate) @ value  # (B, H, Q, E)
    fully_masked = ~mask.any(dim=-1, keepdim=True)  # (B, 1, Q or 1, 1); these rows attend to all keys at first
    scores += additive_mask(mask | fully_masked, scores)
    weights = scores.softmax(dim=-1)  # (B, H, Q, K)
    if fully_masked.any():
        weights = weights.masked_fill(fully_masked, 0.0)
    return dropout(weights, dropout_rate) @ value  # (B, H, Q, E)


def few_queries_attention(query: Tensor, key: Tensor, value: Tensor, bias: Tensor | None) -> Tensor:
    """Equation 1 in decoding, where each row has one query or a few: (B, H, Q, E) and (B, H, K, E) -> (B, H, Q, E). The
    encoder of the inference copy uses it, too, with S queries.

    Args:
        bias: what `additive_mask` makes of a mask without fully masked rows.

    On a CPU the fused kernel is faster if there are few queries in all rows together. It is also faster in float32 if
    each row has one query and the keys are not contiguous, as in a cache. Otherwise batched products are faster.
    """
    queries = query.size(2)
    few = query.size(0) * queries < 32
    strided = queries == 1 and query.dtype != torch.bfloat16 and not key.is_contiguous()
    if few or strided or not query.is_cpu:
        return scaled_dot_product_attention(query, key, value, bias)  # (B, H, Q, E)
    scores = (query / math.sqrt(query.size(3))) @ key.transpose(-2, -1)  # (B, H, Q, K)
    if bias is not None:
        scores += bias
    return scores.softmax(dim=-1) @ value  # (B, H, Q, E)


def additive_mask(mask: Tensor, like: Tensor) -> Tensor:
    """What is added to scores in place of a boolean mask: 0 where a query may attend, -inf elsewhere, in the dtype of
    `like`. The shape stays."""
    return like.new_zeros(mask.shape).masked_fill_(~mask, -math.inf)
