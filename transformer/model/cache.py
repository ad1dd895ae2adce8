"""The key-value cache: what a decoder keeps from one step to the next.

Keys and values of past positions never change (the causal mask sees to that), so each step computes those of the newest
position only, and appends. Keys and values of the encoder's output are computed once. Without it, translating T pieces
costs T(T+1)/2 positions instead of T.

R rows are decoded side by side: R/B hypotheses for each of B sentences, row r belonging to sentence r // (R/B).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

FIRST_ROOM = 16  # positions; doubled when they are used up


class Past:
    """Keys and values of the positions read so far, of all layers, with room for more.

    What a row keeps of a layer lies side by side: key and value of the first position, of the second, and so on. Behind
    the last there is room for a query, so that key, value and query of the newest position may be put where they belong
    in one go (flat.py does); the next position's key takes the query's place.
    """

    def __init__(self, layers: int):
        self.layers = layers
        self.length = 0  # K: positions read so far, the one that is being read included
        self.room = torch.empty(0)  # (N, R, C*2D + D), of which the first K*2D are in use
        self.spare = torch.empty(0)  # where `select` writes: on a CPU fresh memory would cost as much as the copying
        self.opened = 0  # the length for which the next four, N each, are views of `room`
        self.newest: Sequence[Tensor] = ()  # (R, 3D) each: where the newest position's key, value and query are put
        self.queries: Sequence[Tensor] = ()  # (R, H, 1, E) each
        self.keys: Sequence[Tensor] = ()  # (R, H, K, E) each
        self.values: Sequence[Tensor] = ()  # (R, H, K, E) each

    def append(self, layer: int, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        """Key and value of the position that is being read, (R, H, 1, E) each -> all so far, (R, H, K, E) each."""
        rows, heads, _, width = key.shape
        self.open(rows, heads, width, key)
        keys, values = self.keys[layer], self.values[layer]  # (R, H, K, E) each
        keys[:, :, -1:] = key
        values[:, :, -1:] = value
        return keys, values

    def open(self, rows: int, heads: int, width: int, like: Tensor) -> None:
        """Makes room for one more position, if there is none, and the views of all layers at once: R, H, E, and a
        tensor of the dtype and on the device of keys and values."""
        if self.opened == self.length:
            return
        d_model, used = heads * width, 2 * heads * width * self.length  # D, K*2D
        if self.length == 1 or self.room.shape[-1] < used + d_model:
            capacity = FIRST_ROOM if self.length == 1 else 2 * (self.length - 1)
            room = like.new_empty(self.layers, rows, (2 * capacity + 1) * d_model)  # (N, R, C*2D + D)
            if self.length > 1:
                room[..., : self.room.shape[-1]] = self.room
            self.room = room
        self.newest = self.room[..., used - 2 * d_model : used + d_model].unbind()  # (R, 3D) each
        query = self.room[..., used : used + d_model]  # (N, R, D)
        self.queries = query.view(self.layers, rows, heads, 1, width).unbind()  # (R, H, 1, E) each
        past = self.room[..., :used].view(self.layers, rows, self.length, 2, heads, width)
        keys, values = past.permute(3, 0, 1, 4, 2, 5).unbind()  # (N, R, H, K, E) each
        self.keys, self.values = keys.unbind(), values.unbind()  # (R, H, K, E) each
        self.opened = self.length

    @torch.no_grad()
    def select(self, rows: Tensor) -> None:
        """Keeps these rows (R')."""
        if self.length:
            if not self.room.is_cpu:  # there, memory that was freed is at hand
                self.room = self.room.index_select(1, rows)  # (N, R', C*2D + D)
                return
            layers, _, size = self.room.shape
            if self.spare.shape != (shape := (layers, len(rows), size)):
                self.spare = self.room.new_empty(shape)  # (N, R', C*2D + D)
            _, heads, keys, width = self.keys[0].shape
            used = 2 * heads * keys * width  # K*2D
            torch.index_select(self.room[..., :used], 1, rows, out=self.spare[..., :used])
            self.room, self.spare = self.spare, self.room


@dataclass
class LayerCache:
    """One decoder layer's share."""

    index: int  # of the layer
    past: Past  # shared by all layers
    cross_key: Tensor  # (B, H, S, E)
    cross_value: Tensor  # (B, H, S, E)
    alone: Callable[[Tensor, Tensor], Tensor] | None = None  # cross-attention of one sentence, if flat.py has made it

    @torch.no_grad()
    def append(self, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        """The newest position, (R, H, 1, E) each; returns all so far, (R, H, K, E) each."""
        return self.past.append(self.index, key, value)


@dataclass
class DecoderState:
    """All layers, the mask of the source, and the past."""

    layers: list[LayerCache]
    source_mask: Tensor  # (B, 1, 1, S)
    past: Past
    source_bias: Tensor | None = None  # (B, 1, 1, S): the mask as what is added to scores, once flat.py has made it

    def select(self, rows: Tensor) -> None:
        """Keeps these rows (R', long) of the past, in this order; a row may appear several times.

        The encoder's side belongs to sentences, not rows, and stays as it is.
        """
        self.past.select(rows)

    def select_sentences(self, sentences: Tensor) -> None:
        """Keeps the encoder's side of these sentences (B', long) only: the others are finished."""
        self.source_mask = self.source_mask.index_select(0, sentences)  # (B', 1, 1, S)
        self.source_bias = None
        for layer in self.layers:
            layer.cross_key = layer.cross_key.index_select(0, sentences)  # (B', H, S, E)
            layer.cross_value = layer.cross_value.index_select(0, sentences)  # (B', H, S, E)
