"""The key-value cache of the fast model: `transformer.model.cache` without a new tensor in each step.

- Keys and values of all layers are in one tensor with room for more positions than are used, so a step appends in
  place, and `select` is one operation for all layers.
- A row of the tensor has key and value of its first position, of the second, and so on, then room for one query. One
  matrix product computes key, value and query of the newest position, and one copy stores all three. The next key
  overwrites the query.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

FIRST_CAPACITY = 16  # positions; doubled when they are used up


class Past:
    """Keys and values of the target positions so far, of all layers."""

    def __init__(self, layers: int):
        self.layers = layers
        self.length = 0  # K: positions read so far, including the newest
        self.buffer = torch.empty(0)  # (N, R, C*2D + D), of which the first K*2D are in use
        self.spare = torch.empty(0)  # where `select` writes: on a CPU a new tensor would take as long as the copy
        self.newest: Sequence[Tensor] = ()  # (R, 3D) each: key, value and query of the newest position
        self.queries: Sequence[Tensor] = ()  # (R, H, 1, E) each, views of the buffer, as are the next two
        self.keys: Sequence[Tensor] = ()  # (R, H, K, E) each
        self.values: Sequence[Tensor] = ()  # (R, H, K, E) each

    def extend(self, rows: int, heads: int, width: int, like: Tensor) -> None:
        """Adds one position, to be written through `newest`.

        Args:
            rows, heads, width: R, H, E.
            like: a tensor of the dtype and on the device of keys and values.
        """
        self.length += 1
        d_model = heads * width  # D
        used = 2 * d_model * self.length  # K*2D
        if self.length == 1 or self.buffer.shape[-1] < used + d_model:
            larger = like.new_empty(self.layers, rows, (2 * self.capacity() + 1) * d_model)  # (N, R, C*2D + D)
            if self.length > 1:
                larger[..., : self.buffer.shape[-1]] = self.buffer
            self.buffer = larger
        self.newest = self.buffer[..., used - 2 * d_model : used + d_model].unbind()  # (R, 3D) each
        query = self.buffer[..., used : used + d_model]  # (N, R, D)
        self.queries = query.view(self.layers, rows, heads, 1, width).unbind()  # (R, H, 1, E) each
        past = self.buffer[..., :used].view(self.layers, rows, self.length, 2, heads, width)
        keys, values = past.permute(3, 0, 1, 4, 2, 5).unbind()  # (N, R, H, K, E) each
        self.keys, self.values = keys.unbind(), values.unbind()  # (R, H, K, E) each

    def capacity(self) -> int:
        """C: the number of positions of the next buffer."""
        return FIRST_CAPACITY if self.length == 1 else 2 * (self.length - 1)

    @torch.no_grad()
    def select(self, rows: Tensor) -> None:
        """Keeps these rows (R')."""
        if not self.length:
            return
        layers, _, size = self.buffer.shape
        if self.spare.shape != (shape := (layers, len(rows), size)):
            self.spare = self.buffer.new_empty(shape)  # (N, R', C*2D + D)
        _, heads, keys, width = self.keys[0].shape
        used = 2 * heads * keys * width  # K*2D
        torch.index_select(self.buffer[..., :used], 1, rows, out=self.spare[..., :used])
        self.buffer, self.spare = self.spare, self.buffer


@dataclass
class FastLayerCache:
    """What one decoder layer stores of the encoder's output."""

    cross_key: Tensor  # (B, H, S, E)
    cross_value: Tensor  # (B, H, S, E)
    folded: Callable[[Tensor, Tensor], Tensor] | None = None  # cross-attention with folded weights, if it is used


@dataclass
class FastState:
    """Keys and values of the source for all layers, the mask of the source, and the target positions so far."""

    layers: list[FastLayerCache]
    source_mask: Tensor  # (B, 1, 1, S)
    past: Past
    source_bias: Tensor | None = None  # (B, 1, 1, S): `source_mask` to be added to scores; made when a step needs it

    def select(self, rows: Tensor) -> None:
        """As `DecoderState.select`."""
        self.past.select(rows)

    def select_sentences(self, sentences: Tensor) -> None:
        """As `DecoderState.select_sentences`."""
        self.source_mask = self.source_mask.index_select(0, sentences)  # (B', 1, 1, S)
        self.source_bias = None
        for layer in self.layers:
            layer.cross_key = layer.cross_key.index_select(0, sentences)  # (B', H, S, E)
            layer.cross_value = layer.cross_value.index_select(0, sentences)  # (B', H, S, E)
