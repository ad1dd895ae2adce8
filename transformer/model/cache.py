"""The key-value cache: what a decoder stores from one step to the next.

Because of the causal mask, keys and values of past positions never change. So each step computes those of the newest
position only and appends them. Keys and values of the encoder's output are computed once. In this way the decoder
computes T positions to write T tokens. Without the cache it would compute T(T+1)/2.

R rows are decoded together: R/B hypotheses for each of B sentences. Row r belongs to sentence r // (R/B).
"""

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass
class LayerCache:
    """Keys and values of one decoder layer."""

    cross_key: Tensor  # (B, H, S, E), of the encoder's output
    cross_value: Tensor  # (B, H, S, E)
    key: Tensor | None = None  # (R, H, K, E), of the target positions so far
    value: Tensor | None = None  # (R, H, K, E)

    def append(self, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        """Key and value of the newest position, (R, H, 1, E) each -> all so far, (R, H, K, E) each."""
        if self.key is not None and self.value is not None:
            key = torch.cat([self.key, key], dim=2)  # (R, H, K, E)
            value = torch.cat([self.value, value], dim=2)  # (R, H, K, E)
        self.key, self.value = key, value
        return key, value


@dataclass
class DecoderState:
    """The caches of all layers and the mask of the source."""

    layers: list[LayerCache]
    source_mask: Tensor  # (B, 1, 1, S)
    length: int = 0  # K: target positions read so far

    def select(self, rows: Tensor) -> None:
        """Keeps the keys and values of these rows (R', long), in this order. A row may be named several times. Keys and
        values of the encoder's output belong to sentences, not to rows, so they stay."""
        for layer in self.layers:
            if layer.key is not None and layer.value is not None:
                layer.key = layer.key.index_select(0, rows)  # (R', H, K, E)
                layer.value = layer.value.index_select(0, rows)  # (R', H, K, E)

    def select_sentences(self, sentences: Tensor) -> None:
        """Keeps the mask, keys and values of the encoder's output for these sentences (B', long). The other sentences
        are finished."""
        self.source_mask = self.source_mask.index_select(0, sentences)  # (B', 1, 1, S)
        for layer in self.layers:
            layer.cross_key = layer.cross_key.index_select(0, sentences)  # (B', H, S, E)
            layer.cross_value = layer.cross_value.index_select(0, sentences)  # (B', H, S, E)
