"""The rows of attention weights that a question may be about."""

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

import numpy as np

from app.figures.axes import TokenAxis
from app.languages import _
from app.questions.question import Place, candidates, token_name
from app.stage.scene import Scene
from transformer.model.attention_kinds import KINDS, Kind, depth


@dataclass(frozen=True)
class WeightRow:
    """The weights that one query gives to the keys.

    Attributes:
        weights: (K) float64.
        allowed_keys: the keys that it may attend to.
    """

    kind: Kind
    layer: int
    head: int
    row: int
    weights: np.ndarray
    allowed_keys: tuple[int, ...]
    queries: TokenAxis
    keys: TokenAxis

    @property
    def place(self) -> Place:
        """Where the row is, on the page Attention."""
        return Place("attention", self.kind, self.layer, self.head, self.row)

    @property
    def head_name(self) -> str:
        """For example "Encoder-decoder attention, layer 4, head 4"."""
        return _(
            "{kind}, layer {layer}, head {head}", kind=_(KINDS[self.kind]), layer=self.layer + 1, head=self.head + 1
        )

    @property
    def row_name(self) -> str:
        """The row in words, at the beginning of a sentence."""
        token = token_name(self.queries, self.row)
        if self.kind == "encoder":
            return _("The row of {token}", token=token)
        following = token_name(TokenAxis("", "decoder", (self.queries.predicts[self.row],)), 0)
        return _(
            "Row {row}, which reads {token} and predicts {following},",
            row=self.row + 1,
            token=token,
            following=following,
        )


def weight_rows(scene: Scene, place: Place, draw: Random) -> Iterator[WeightRow]:
    """All rows at a place, in a random order. If the place has no kind of attention, one kind comes after the other."""
    kinds = [place.kind] if place.kind else draw.sample(tuple(KINDS), len(KINDS))
    for kind in kinds:
        found = scene.attention(kind)
        queries, keys = scene.axes(kind)
        layers, heads = depth(scene.config, kind), scene.config.heads
        heads_there = [(i, j) for i in candidates(layers, place.layer) for j in candidates(heads, place.head)]
        cells = [(i, j, row) for i, j in heads_there for row in candidates(len(queries), place.row)]
        for layer, head, row in draw.sample(cells, len(cells)):
            weights = found.weights[layer, head, row].astype(np.float64)  # (K)
            allowed_keys = tuple(map(int, np.flatnonzero(found.masks[layer, head, row])))
            yield WeightRow(kind, layer, head, row, weights, allowed_keys, queries, keys)


def is_word(token: str) -> bool:
    """Whether a token has letters or digits, and is not one like `</s>`."""
    return not (token.startswith("<") and token.endswith(">")) and any(letter.isalnum() for letter in token)
