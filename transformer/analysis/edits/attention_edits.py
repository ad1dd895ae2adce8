"""Edits of one row of attention: a cell of a mask, and weights that are set by hand.

Both name a query by its position. A pass over a whole sentence has it as a row of the tensor; in a decoding step with
the cache all rows of the tensor have the position of that step (rows.py).
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
from transformer.model.probe import Edit as SiteEdit


@dataclass(frozen=True)
class MaskCell:
    """A query may attend to a key, or may not; a sentence that is too short for the cell stays as it is.

    In a decoding step later tokens do not exist yet, so there is nothing to allow.

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

    Keys that the mask forbids or that the sentence lacks get nothing, and the others share their weight; if none is
    left, the row stays as it is.

    Attributes:
        head: None: all heads.
        weights: key and weight; whole numbers, whose sum may be anything. The other keys get 0.
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
            """The softmax of these logarithms gives the weights, and makes those that are allowed sum to 1."""
            wanted = scores.new_full((scores.shape[-1],), -math.inf)  # (K)
            for key, logarithm in logarithms:
                if key < len(wanted):
                    wanted[key] = logarithm
            allowed = wanted.where(scores.isfinite(), -math.inf)  # (B, H, Q, K)
            return allowed.where(allowed.isfinite().any(-1, keepdim=True), scores)  # (B, H, Q, K)

        site = f"{SITES[self.kind].format(self.layer)}.masked_scores"
        return {site: Row(self.query, self.head, changed)}
