"""Attention (paper, section 3.2).

    Attention(Q, K, V) = softmax(Q K^T / sqrt(d_k)) V                                  (equation 1)
    MultiHead(Q, K, V) = Concat(head_1, ..., head_h) W^O
    head_i             = Attention(Q W_i^Q, K W_i^K, V W_i^V)                          (section 3.2.2)

`attend` is equation 1, step by step, with a site for each step. Without a probe the same is computed by
transformer/kernels/fast_attention.py; a test checks that both paths are equal for all options. W_1^Q to W_h^Q are
stored as one matrix, so that one product computes the queries of all heads. The same is true of K and V.

Two decisions of ours. The projections have biases: the paper's formulas have none, and its parameter counts are rounded
to millions, so they do not tell. Dropout on the weights, which the paper does not have and which is off by default,
comes after the `weights` site, so that recorded rows sum to 1.
"""

import math

import torch
from torch import Tensor, nn

from transformer.config import ModelConfig
from transformer.kernels.dropout import dropout
from transformer.kernels.fast_attention import attention
from transformer.model.probe import NULL_PROBE, BaseProbe


def attend(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None,
    probe: BaseProbe = NULL_PROBE,
    dropout_rate: float = 0.0,
) -> Tensor:
    """Scaled dot-product attention (equation 1).

    Args:
        query: (B, H, Q, E). key, value: (B, H, K, E).
        mask: boolean, True = may attend, broadcastable to (B, H, Q, K); None = every query may attend to every key.
        dropout_rate: on the weights; must be 0 outside training.

    Returns:
        (B, H, Q, E). For a query that may attend to no key, the output and the gradient are 0, on both paths.
    """
    if not probe:
        return attention(query, key, value, mask, dropout_rate)  # (B, H, Q, E)
    products = probe("products", query @ key.transpose(-2, -1))  # (B, H, Q, K)
    scores = probe("scores", products / math.sqrt(query.shape[-1]))  # (B, H, Q, K)
    if mask is None:
        mask = torch.ones((), dtype=torch.bool, device=scores.device)
    mask = probe("mask", mask.expand_as(scores))  # (B, H, Q, K)
    masked_scores = probe("masked_scores", scores.masked_fill(~mask, -math.inf))  # (B, H, Q, K)
    weights = probe("weights", masked_softmax(masked_scores, mask))  # (B, H, Q, K)
    return dropout(weights, dropout_rate) @ value  # (B, H, Q, E)


def masked_softmax(masked_scores: Tensor, mask: Tensor) -> Tensor:
    """Softmax over the keys; a fully masked row becomes 0. Scores and mask (B, H, Q, K) -> weights (B, H, Q, K).

    Trap: the softmax of a row that is -inf everywhere is NaN, and so is its gradient. Test:
    test_a_fully_masked_query_gets_zeros_and_finite_gradients.
    """
    fully_masked = ~mask.any(dim=-1, keepdim=True)  # (B, H, Q, 1)
    weights = masked_scores.masked_fill(fully_masked, 0.0).softmax(dim=-1)  # (B, H, Q, K)
    return weights.masked_fill(fully_masked, 0.0)  # (B, H, Q, K)


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

    def forward(self, x: Tensor, memory: Tensor, mask: Tensor | None, probe: BaseProbe = NULL_PROBE) -> Tensor:
        """x (B, Q, D) attends to memory (B, K, D): x itself in self-attention, the encoder's output in cross-attention.

        Returns (B, Q, D).
        """
        key, value = self.keys_and_values(memory, probe)  # (B, H, K, E) each
        return self.attend_to(x, key, value, mask, probe)  # (B, Q, D)

    def keys_and_values(self, memory: Tensor, probe: BaseProbe = NULL_PROBE) -> tuple[Tensor, Tensor]:
        """Keys and values of all heads, which a cache stores: memory (B, K, D) -> two of (B, H, K, E)."""
        key = probe("key", self.split(self.key(memory)))  # (B, H, K, E)
        value = probe("value", self.split(self.value(memory)))  # (B, H, K, E)
        return key, value

    def attend_to(
        self, x: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, probe: BaseProbe = NULL_PROBE
    ) -> Tensor:
        """x (B, Q, D) attends to keys and values (B, H, K, E) that are already projected. Returns (B, Q, D)."""
        query = probe("query", self.split(self.query(x)))  # (B, H, Q, E)
        rate = self.dropout if self.training else 0.0
        context = probe("context", attend(query, key, value, mask, probe, rate))  # (B, H, Q, E)
        if probe.is_probed("head_outputs"):
            return probe("output", self.sum_of_heads(context, probe))  # (B, Q, D)
        return probe("output", self.output(self.join(context)))  # (B, Q, D)

    def sum_of_heads(self, context: Tensor, probe: BaseProbe) -> Tensor:
        """W^O applied to each head by itself: context (B, H, Q, E) -> (B, Q, D).

        The sum of the results is the product of W^O and the concatenated heads. The separate results take H times the
        memory, so they are computed only if `head_outputs` is probed.
        """
        by_head = self.output.weight.unflatten(1, (self.heads, -1)).permute(1, 2, 0)  # (H, E, D)
        outputs = probe("head_outputs", context @ by_head)  # (B, H, Q, D)
        return outputs.sum(dim=1) + self.output.bias  # (B, Q, D)

    def split(self, x: Tensor) -> Tensor:
        """(B, T, D) -> (B, H, T, E).

        Trap: a view alone would mix heads with positions; hence the transpose. Test:
        test_attention_and_its_weights_equal_those_of_torch.
        """
        return x.view(*x.shape[:2], self.heads, -1).transpose(1, 2)  # (B, H, T, E)

    def join(self, context: Tensor) -> Tensor:
        """Concat(head_1, ..., head_h): (B, H, Q, E) -> (B, Q, D)."""
        return context.transpose(1, 2).flatten(-2)  # (B, Q, D)
