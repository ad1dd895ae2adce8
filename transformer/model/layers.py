"""Layers of encoder and decoder (paper, section 3.1): sub-layers, each inside a residual connection with LayerNorm.

    post-norm (the paper):   LayerNorm(x + Sublayer(x))
    pre-norm (later work):   x + Sublayer(LayerNorm(x)),   and one more LayerNorm on top of each stack

Dropout is applied to the output of each sub-layer, before it is added (section 5.4).
"""

from collections.abc import Callable

from torch import Tensor, nn

from transformer.config import ModelConfig
from transformer.kernels.dropout import Dropout
from transformer.model.attention import MultiHeadAttention
from transformer.model.cache import LayerCache
from transformer.model.feed_forward import FeedForward
from transformer.model.probe import NULL_PROBE, BaseProbe


class Residual(nn.Module):
    """The residual connection around a sub-layer, and its LayerNorm.

    Trap: every sub-layer has a LayerNorm of its own. With one LayerNorm for all of them a model trains almost as well,
    so the error is not noticed. Test: test_parameter_counts_follow_the_formula.
    """

    def __init__(self, config: ModelConfig):
        super().__init__()
        self.norm = nn.LayerNorm(config.d_model, eps=config.norm_epsilon)
        self.dropout = Dropout(config.dropout)
        self.pre_norm = config.norm == "pre"

    def forward(self, x: Tensor, sublayer: Callable[[Tensor], Tensor], probe: BaseProbe = NULL_PROBE) -> Tensor:
        """x (B, T, D), and a sub-layer (B, T, D) -> (B, T, D). Returns (B, T, D)."""
        x = probe("residual_in", x)
        if self.pre_norm:
            normed = probe("norm_out", self.norm(x))
            return probe("residual_sum", probe("residual_connection", x) + self.dropout(sublayer(normed)))
        residual_sum = probe("residual_sum", probe("residual_connection", x) + self.dropout(sublayer(x)))
        return probe("norm_out", self.norm(residual_sum))


class EncoderLayer(nn.Module):
    """Self-attention, then feed-forward."""

    def __init__(self, config: ModelConfig):
        super().__init__()
        self.self_attention = MultiHeadAttention(config)
        self.self_attention_residual = Residual(config)
        self.feed_forward = FeedForward(config)
        self.feed_forward_residual = Residual(config)

    def forward(self, x: Tensor, mask: Tensor, probe: BaseProbe = NULL_PROBE) -> Tensor:
        """x (B, S, D), mask broadcastable to (B, H, S, S) -> (B, S, D)."""
        below = probe.at("self_attention")
        x = self.self_attention_residual(x, lambda x: self.self_attention(x, x, mask, below), below)
        below = probe.at("feed_forward")
        return self.feed_forward_residual(x, lambda x: self.feed_forward(x, below), below)


class DecoderLayer(nn.Module):
    """Masked self-attention, attention to the encoder's output, feed-forward."""

    def __init__(self, config: ModelConfig):
        super().__init__()
        self.self_attention = MultiHeadAttention(config)
        self.self_attention_residual = Residual(config)
        self.cross_attention = MultiHeadAttention(config)
        self.cross_attention_residual = Residual(config)
        self.feed_forward = FeedForward(config)
        self.feed_forward_residual = Residual(config)

    def forward(
        self,
        x: Tensor,
        memory: Tensor,
        self_mask: Tensor,
        cross_mask: Tensor,
        probe: BaseProbe = NULL_PROBE,
    ) -> Tensor:
        """x (B, T, D), memory (B, S, D), masks broadcastable to (B, H, T, T) and (B, H, T, S) -> (B, T, D)."""
        return self._sublayers(
            x,
            lambda x: self.self_attention(x, x, self_mask, probe.at("self_attention")),
            lambda x: self.cross_attention(x, memory, cross_mask, probe.at("cross_attention")),
            probe,
        )

    def step(
        self, x: Tensor, cache: LayerCache, self_mask: Tensor | None, cross_mask: Tensor, probe: BaseProbe = NULL_PROBE
    ) -> Tensor:
        """The newest position of R rows, x (R, 1, D) -> (R, 1, D). Keys and values of the past come from the cache.

        The rows of one sentence (its beam) attend to the encoder's output as several queries of that
        sentence: R rows become (B, R/B, D), and the encoder's keys and values need no copies.
        """

        def attend_to_past(x: Tensor) -> Tensor:
            below = probe.at("self_attention")
            keys, values = cache.append(*self.self_attention.keys_and_values(x, below))  # (R, H, K, E) each
            return self.self_attention.attend_to(x, keys, values, self_mask, below)  # (R, 1, D)

        def attend_to_source(x: Tensor) -> Tensor:
            queries = x.reshape(cache.cross_key.shape[0], -1, x.shape[-1])  # (B, R/B, D)
            below = probe.at("cross_attention")
            attended = self.cross_attention.attend_to(queries, cache.cross_key, cache.cross_value, cross_mask, below)
            return attended.reshape(x.shape)  # (R, 1, D)

        return self._sublayers(x, attend_to_past, attend_to_source, probe)

    def _sublayers(
        self,
        x: Tensor,
        attend_to_past: Callable[[Tensor], Tensor],
        attend_to_source: Callable[[Tensor], Tensor],
        probe: BaseProbe,
    ) -> Tensor:
        """The three sub-layers in their order: x (B, T, D) -> (B, T, D), with T = 1 and R for B in a decoding step."""
        x = self.self_attention_residual(x, attend_to_past, probe.at("self_attention"))
        x = self.cross_attention_residual(x, attend_to_source, probe.at("cross_attention"))
        below = probe.at("feed_forward")
        return self.feed_forward_residual(x, lambda x: self.feed_forward(x, below), below)
