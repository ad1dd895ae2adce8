"""The key-value cache: what a decoder keeps from one step to the next.

Keys and values of past positions never change (the causal mask sees to that), so each step computes those of the newest
position only, and appends. Keys and values of the encoder's output are computed once. Without it, translating T pieces
costs T(T+1)/2 positions instead of T.

R rows are decoded side by side: R/B hypotheses for each of B sentences, row r belonging to sentence r // (R/B).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

FIRST_ROOM = 16  # positions; doubled when they are used up


class Past:
    """Keys and values of the positions read so far, of all layers, with room for more.

    Positions come first, so that a new one is written in one place, and one operation reorders the rows of all layers.
    """

    def __init__(self, layers: int):
        self.layers = layers
        self.length = 0  # K: positions read so far, the one that is being read included
        self.room = torch.empty(0)  # (C, N, 2, R, H, E), of which the first K are in use
        self.spare = torch.empty(0)  # where `select` writes: fresh memory would cost as much as the copying
        self.opened = 0  # the length for which the next two are views of `room`, 2 for each layer: of key and of value
        self.newest: Sequence[Tensor] = ()  # (R, H, 1, E) each: where the position that is being read is written
        self.all: Sequence[Tensor] = ()  # (R, H, K, E) each

    def append(self, layer: int, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        """Key and value of the position that is being read, (R, H, 1, E) each -> all so far, (R, H, K, E) each."""
        if self.opened != self.length:
            self._open(key)
        self.newest[2 * layer].copy_(key)
        self.newest[2 * layer + 1].copy_(value)
        return self.all[2 * layer], self.all[2 * layer + 1]

    def _open(self, key: Tensor) -> None:
        """Makes room for one more position, if there is none, and the views of all layers at once."""
        if self.room.shape[0] < self.length:
            rows, heads, _, width = key.shape
            more = key.new_empty(max(FIRST_ROOM, self.room.shape[0]), self.layers, 2, rows, heads, width)
            self.room = torch.cat([self.room, more]) if self.room.shape[0] else more  # (C, N, 2, R, H, E)
        self.newest = self.room[self.length - 1, ..., None, :].flatten(0, 1).unbind()  # (R, H, 1, E) each
        self.all = self.room[: self.length].permute(1, 2, 3, 4, 0, 5).flatten(0, 1).unbind()  # (R, H, K, E) each
        self.opened = self.length

    @torch.no_grad()
    def select(self, rows: Tensor) -> None:
        """Keeps these rows (R')."""
        if self.length:
            capacity, layers, _, _, heads, width = self.room.shape
            if self.spare.shape != (shape := (capacity, layers, 2, len(rows), heads, width)):
                self.spare = self.room.new_empty(shape)  # (C, N, 2, R', H, E)
            torch.index_select(self.room[: self.length], 3, rows, out=self.spare[: self.length])
            self.room, self.spare = self.spare, self.room


@dataclass
class LayerCache:
    """One decoder layer's share."""

    index: int  # of the layer
    past: Past  # shared by all layers
    cross_key: Tensor  # (B, H, S, E)
    cross_value: Tensor  # (B, H, S, E)

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
