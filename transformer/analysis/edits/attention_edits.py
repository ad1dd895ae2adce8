"""Edits of one row of attention: a cell of a mask, and weights that are set by hand.

Both edits name a query by its position. In a pass over a whole sentence the query is one row of the tensor. In a
decoding step with the cache all rows of the tensor have the position of that step (rows.py).
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from transformer.analysis.edits.checks import check_head
from transformer.analysis.edits.rows import Row
from transformer.errors import HeadlightError
from transformer.model import Transformer
from transformer.model.attention_kinds import SITES, Kind, depth
from transformer.model.probe import SiteEdit


@dataclass(frozen=True)
class MaskCell:
    """Allows a query to attend to a key, or forbids it. A sentence that is too short for this cell is not changed; in a
    padded batch, however, the key may be padding.

    In a decoding step the tokens after the query do not exist yet, so allowing them has no effect.

    Attributes:
        layer: None: all layers. head: None: all heads.
    """

    kind: Kind
    layer: int | None
    head: int | None
    query: int
    key: int
    allowed: bool

    def sites(self, model: Transformer) -> dict[str, SiteEdit]:
        """Raises HeadlightError: the model has no such head."""
        layers = range(depth(model.config, self.kind)) if self.layer is None else [self.layer]
        for layer in layers:
            check_head(model.config, self.kind, layer, self.head or 0)

        def changed(mask: Tensor) -> Tensor:
            here = torch.arange(mask.shape[-1], device=mask.device) == self.key  # (K)
            return mask | here if self.allowed else mask & ~here  # (B, H, Q, K)

        row = Row(self.query, self.head, changed)
        return {f"{SITES[self.kind].format(layer)}.mask": row for layer in layers}


@dataclass(frozen=True)
class WeightsSet:
    """The weights of a query are set by hand, in one head or in all heads of a layer, and made to sum to 1.

    Keys that the mask forbids or that the sentence does not have get 0, and the other keys share their weight. If no
    key is left, the row is not changed.

    Attributes:
        head: None: all heads.
        weights: pairs of a key and its weight, whole numbers with any sum. The other keys get 0.
    """

    kind: Kind
    layer: int
    head: int | None
    query: int
    weights: tuple[tuple[int, int], ...]

    def sites(self, model: Transformer) -> dict[str, SiteEdit]:
        """Raises HeadlightError: the model has no such head, or there is no weight above 0."""
        check_head(model.config, self.kind, self.layer, self.head or 0)
        keys = dict(self.weights)
        if min(keys.values(), default=0) < 0 or not any(keys.values()) or len(keys) < len(self.weights):
            raise HeadlightError("The weights of a row are positive numbers, one for each key that has one.")
        if self.kind == "decoder" and max(keys) > self.query:
            raise HeadlightError(
                f"Query {self.query + 1} of the decoder cannot attend to key {max(keys) + 1} after it."
            )
        logarithms = [(key, math.log(weight)) for key, weight in self.weights if weight]

        def changed(scores: Tensor) -> Tensor:
            """Sets the scores to logarithms of the weights: the softmax makes the weights of allowed keys sum to 1."""
            wanted = scores.new_full((scores.shape[-1],), -math.inf)  # (K)
            for key, logarithm in logarithms:
                if key < len(wanted):
                    wanted[key] = logarithm
            allowed = wanted.where(scores.isfinite(), -math.inf)  # (B, H, Q, K)
            return allowed.where(allowed.isfinite().any(-1, keepdim=True), scores)  # (B, H, Q, K)

        site = f"{SITES[self.kind].format(self.layer)}.masked_scores"
        return {site: Row(self.query, self.head, changed)}
