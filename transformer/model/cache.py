"""The key-value cache: what a decoder keeps from one step to the next.

Keys and values of past positions never change (the causal mask sees to that), so each step computes those of the newest
position only, and appends. Keys and values of the encoder's output are computed once. Without it, translating T pieces
costs T(T+1)/2 positions instead of T.

R rows are decoded side by side: R/B hypotheses for each of B sentences, row r belonging to sentence r // (R/B).
"""

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass
class LayerCache:
    """One decoder layer's share."""

    cross_key: Tensor  # (B, H, S, E)
    cross_value: Tensor  # (B, H, S, E)
    self_key: Tensor | None = None  # (R, H, K, E), K positions so far
    self_value: Tensor | None = None  # (R, H, K, E)

    def append(self, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        """The newest position, (R, H, 1, E) each; returns all so far, (R, H, K, E) each."""
        if self.self_key is not None and self.self_value is not None:
            key = torch.cat([self.self_key, key], dim=2)  # (R, H, K, E)
            value = torch.cat([self.self_value, value], dim=2)  # (R, H, K, E)
        self.self_key, self.self_value = key, value
        return key, value


@dataclass
class DecoderState:
    """All layers, the mask of the source, and how many positions have been read."""

    layers: list[LayerCache]
    source_mask: Tensor  # (B, 1, 1, S)
    length: int = 0  # positions read so far

    def select(self, rows: Tensor) -> None:
        """Keeps these rows (R', long) of the past, in this order; a row may appear several times.

        The encoder's side belongs to sentences, not rows, and stays as it is.
        """
        for layer in self.layers:
            if layer.self_key is not None and layer.self_value is not None:
                layer.self_key = layer.self_key.index_select(0, rows)  # (R', H, K, E)
                layer.self_value = layer.self_value.index_select(0, rows)  # (R', H, K, E)

    def select_sentences(self, sentences: Tensor) -> None:
        """Keeps the encoder's side of these sentences (B', long) only: the others are finished."""
        self.source_mask = self.source_mask.index_select(0, sentences)  # (B', 1, 1, S)
        for layer in self.layers:
            layer.cross_key = layer.cross_key.index_select(0, sentences)  # (B', H, S, E)
            layer.cross_value = layer.cross_value.index_select(0, sentences)  # (B', H, S, E)
