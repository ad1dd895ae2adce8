"""Attention (paper, section 3.2).

    Attention(Q, K, V) = softmax(Q K^T / sqrt(d_k)) V                                  (equation 1)
    MultiHead(Q, K, V) = Concat(head_1, ..., head_h) W^O
    head_i             = Attention(Q W_i^Q, K W_i^K, V W_i^V)                          (section 3.2.2)

`attend` is equation 1, once as fast as it can be and once step by step with a name for each step; which of them runs
depends only on whether a probe watches, and a test holds them equal over all options. The h projections are slices of
one matrix each. Two decisions of ours: the projections have biases (the paper's formulas show none; its parameter
counts, in whole millions, cannot tell), and dropout on the weights, which the paper does not have, comes
after the `weights` site, so that recorded rows sum to 1.
"""

import math

import torch
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention

from transformer.config import ModelConfig
from transformer.model.dropout import dropout
from transformer.model.masks import bias
from transformer.model.probe import SILENT, Silent

FEW_KEYS = 128  # up to here products of all heads at once are faster on a CPU than the fused kernel (torch 2.13)


def attend(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None,
    probe: Silent = SILENT,
    dropout_rate: float = 0.0,
) -> Tensor:
    """Scaled dot-product attention (equation 1).

    Args:
        query: (B, H, Q, E). key, value: (B, H, K, E).
        mask: boolean, True = may attend, broadcastable to (B, H, Q, K); None = everyone may attend to all.
        dropout_rate: on the weights; must be 0 outside training.

    Returns:
        (B, H, Q, E). A query that may look nowhere gets zeros, on both roads, forward and backward.
    """
    if not probe:
        return unwatched(query, key, value, mask, dropout_rate)  # (B, H, Q, E)
    products = probe("products", query @ key.transpose(-2, -1))  # (B, H, Q, K)
    scores = probe("scores", products / math.sqrt(query.shape[-1]))  # (B, H, Q, K)
    if mask is None:
        mask = torch.ones((), dtype=torch.bool, device=scores.device)
    mask = probe("mask", mask.expand_as(scores))  # (B, H, Q, K)
    masked_scores = probe("masked_scores", scores.masked_fill(~mask, -math.inf))  # (B, H, Q, K)
    weights = probe("weights", masked_softmax(masked_scores, mask))  # (B, H, Q, K)
    return dropout(weights, dropout_rate) @ value  # (B, H, Q, E)


def unwatched(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, dropout_rate: float) -> Tensor:
    """`attend` where nobody watches, in the way that is the fastest.

    torch has a kernel that does all of it at once and keeps no scores. On a CPU it multiplies the matrices of each
    sentence and head by themselves: with few keys those are small and thousands, and to call for each takes longer than
    to multiply it, up to twelve times with oneDNN (transformer/training/products.py). Products of all at once have no
    such cost, and what they keep is small as long as the keys are few. (What is compiled takes the kernel: a question
    about the mask's numbers would break its graph.) bfloat16 there becomes float32: the way back through the kernel is
    slower in bfloat16, and sums want the digits.
    """
    if query.is_cpu and query.dtype == torch.bfloat16:
        with torch.autocast("cpu", enabled=False):  # which would turn them back
            exact = unwatched(query.float(), key.float(), value.float(), mask, dropout_rate)  # (B, H, Q, E)
        return exact.to(query.dtype)  # (B, H, Q, E)
    if query.is_cpu and not torch.compiler.is_compiling() and key.size(2) <= FEW_KEYS:
        return by_products(query, key, value, mask, dropout_rate)  # (B, H, Q, E)
    return scaled_dot_product_attention(query, key, value, mask, dropout_rate)  # (B, H, Q, E)


def by_products(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, dropout_rate: float) -> Tensor:
    """`attend` in few passes over the scores: what divides them divides the queries, what masks them is one sum of -inf
    where a query may not look and of 0 elsewhere."""
    scores = (query / math.sqrt(query.shape[-1])) @ key.transpose(-2, -1)  # (B, H, Q, K)
    if mask is None:
        return dropout(scores.softmax(dim=-1), dropout_rate) @ value  # (B, H, Q, E)
    blind = ~mask.any(dim=-1, keepdim=True)  # (B, 1, Q or 1, 1): those who may look nowhere look anywhere at first
    scores += bias(mask | blind, scores)
    weights = scores.softmax(dim=-1)  # (B, H, Q, K)
    if blind.any():
        weights = weights.masked_fill(blind, 0.0)
    return dropout(weights, dropout_rate) @ value  # (B, H, Q, E)


def masked_softmax(masked_scores: Tensor, mask: Tensor) -> Tensor:
    """Softmax over the keys, in which a row that may look nowhere is 0 (Trap: a softmax over nothing but -inf is NaN,
    and so is its gradient. Test: test_a_query_that_may_look_nowhere_gets_zeros_and_finite_gradients)."""
    blind = ~mask.any(dim=-1, keepdim=True)  # (B, H, Q, 1)
    weights = masked_scores.masked_fill(blind, 0.0).softmax(dim=-1)  # (B, H, Q, K)
    return weights.masked_fill(blind, 0.0)  # (B, H, Q, K)


class MultiHeadAttention(nn.Module):
    """h heads of width d_k = d_model / h, side by side (section 3.2.2)."""

    def __init__(self, config: ModelConfig):
        super().__init__()
        self.heads = config.heads
        self.dropout = config.attention_dropout
        self.query = nn.Linear(config.d_model, config.d_model)  # W^Q of all heads
        self.key = nn.Linear(config.d_model, config.d_model)  # W^K
        self.value = nn.Linear(config.d_model, config.d_model)  # W^V
        self.output = nn.Linear(config.d_model, config.d_model)  # W^O

    def forward(self, x: Tensor, memory: Tensor, mask: Tensor | None, probe: Silent = SILENT) -> Tensor:
        """x (B, Q, D) looks at memory (B, K, D): itself in self-attention, the encoder's output in cross-attention.

        Returns (B, Q, D).
        """
        key, value = self.project_memory(memory, probe)  # (B, H, K, E) each
        return self.look(x, key, value, mask, probe)  # (B, Q, D)

    def project_memory(self, memory: Tensor, probe: Silent = SILENT) -> tuple[Tensor, Tensor]:
        """Keys and values of all heads, which is what a cache keeps: memory (B, K, D) -> two of (B, H, K, E)."""
        key = probe("key", self.split(self.key(memory)))  # (B, H, K, E)
        value = probe("value", self.split(self.value(memory)))  # (B, H, K, E)
        return key, value

    def look(self, x: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, probe: Silent = SILENT) -> Tensor:
        """x (B, Q, D) looks at keys and values (B, H, K, E) that were made before. Returns (B, Q, D)."""
        query = probe("query", self.split(self.query(x)))  # (B, H, Q, E)
        rate = self.dropout if self.training else 0.0
        context = probe("context", attend(query, key, value, mask, probe, rate))  # (B, H, Q, E)
        if probe.watches("head_outputs"):
            return probe("output", self.sum_of_heads(context, probe))  # (B, Q, D)
        return probe("output", self.output(self.join(context)))  # (B, Q, D)

    def sum_of_heads(self, context: Tensor, probe: Silent) -> Tensor:
        """W^O applied head by head: concatenating and multiplying is the same as adding up what each head writes.

        context (B, H, Q, E) -> (B, Q, D). Costs H times the memory, so it is done only where somebody watches.
        """
        by_head = self.output.weight.unflatten(1, (self.heads, -1)).permute(1, 2, 0)  # (H, E, D)
        written = probe("head_outputs", context @ by_head)  # (B, H, Q, D)
        return written.sum(dim=1) + self.output.bias  # (B, Q, D)

    def split(self, x: Tensor) -> Tensor:
        """(B, T, D) -> (B, H, T, E).

        Trap: a view alone would mix heads with positions; hence the transpose. Test:
        test_attention_and_its_weights_equal_those_of_torch.
        """
        return x.view(*x.shape[:2], self.heads, -1).transpose(1, 2)  # (B, H, T, E)

    def join(self, context: Tensor) -> Tensor:
        """Concat(head_1, ..., head_h): (B, H, Q, E) -> (B, Q, D)."""
        return context.transpose(1, 2).flatten(-2)  # (B, Q, D)
