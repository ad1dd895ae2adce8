"""What edits remove of a model: heads and sub-layers, which the inference copy can leave out.

A head is removed if its context is 0, which is the same as setting its rows of W^O to 0. A sub-layer is removed if its
output is 0. All other edits need the model itself.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from torch import Tensor

from transformer.model.probe import InOrder, SiteEdit
from transformer.model.zero_edit import Zero

_SITE = re.compile(r"(encoder|decoder)\.layers\.(\d+)\.(\w+)\.(context|output)")


@dataclass(frozen=True)
class LayerWithout:
    """What a layer lacks; sub-layers have the names of their sites, such as `cross_attention`.

    Attributes:
        heads: for each kind of attention, the edits of its context.
        sublayers: those whose output is 0.
    """

    heads: Mapping[str, tuple[Zero, ...]] = field(default_factory=dict)
    sublayers: frozenset[str] = frozenset()

    def zero_heads(self, sublayer: str, context: Tensor) -> Tensor:
        """Sets the contexts of the removed heads to 0, in place, and returns the tensor: (B, H, Q, E)."""
        for zero in self.heads.get(sublayer, ()):
            (context if zero.head is None else context[:, zero.head]).zero_()
        return context


WHOLE = LayerWithout()
RemovedParts = dict[tuple[str, int], LayerWithout]  # by the stack and the number of the layer, from 0


def removed_parts(edits: Mapping[str, SiteEdit]) -> RemovedParts | None:
    """What the edits of sites (transformer/model/probe.py) remove; None if they do something else, too."""
    layers: RemovedParts = {}
    for site, edit in edits.items():
        found = _SITE.fullmatch(site)
        changes = edit.changes if isinstance(edit, InOrder) else (edit,)
        zeros = tuple(change for change in changes if isinstance(change, Zero))
        if found is None or len(zeros) < len(changes):
            return None
        stack, layer, sublayer, name = found[1], int(found[2]), found[3], found[4]
        now = layers.get((stack, layer), WHOLE)
        if name == "context":
            now = LayerWithout({**now.heads, sublayer: zeros}, now.sublayers)
        elif all(zero.head is None for zero in zeros):
            now = LayerWithout(now.heads, now.sublayers | {sublayer})
        else:
            return None
        layers[stack, layer] = now
    return layers
