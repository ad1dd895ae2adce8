"""Edits of a sub-layer and of the residual connection around it (paper, section 3.1): x + Sublayer(x).

Post-norm applies LayerNorm to this sum. Without the sub-layer the sum is x, and without the residual connection it is
Sublayer(x).
"""

from dataclasses import dataclass

import torch

from transformer.analysis.edits.checks import Stack, Sublayer, check_sublayer
from transformer.model import Transformer
from transformer.model.probe import SiteEdit
from transformer.model.zero_edit import Zero


@dataclass(frozen=True)
class SublayerOff:
    """A sub-layer adds nothing to the residual stream."""

    stack: Stack
    layer: int
    sublayer: Sublayer

    def sites(self, model: Transformer) -> dict[str, SiteEdit]:
        """Raises HeadlightError: the model has no such sub-layer."""
        check_sublayer(model.config, self.stack, self.layer, self.sublayer)
        return {f"{self.stack}.layers.{self.layer}.{self.sublayer}.output": Zero()}


@dataclass(frozen=True)
class ResidualOff:
    """The residual connection around a sub-layer is removed: its output continues alone, and x is not added to it.

    Attributes:
        layer: None: all layers of the stack.
    """

    stack: Stack
    layer: int | None
    sublayer: Sublayer

    def sites(self, model: Transformer) -> dict[str, SiteEdit]:
        """Raises HeadlightError: the model has no such sub-layer."""
        check_sublayer(model.config, self.stack, self.layer or 0, self.sublayer)
        layer = "*" if self.layer is None else self.layer
        return {f"{self.stack}.layers.{layer}.{self.sublayer}.residual_connection": torch.zeros_like}
