"""All edits of a model. An edit names sites (`transformer.model.probe`), and for each site how its tensor changes.

Layers, heads and positions count from 0 here, and from 1 in the text of an edit (edit_text.py). Edits of positions
change those of the encoder, which reads the whole source in one pass, also in a search. Only `PositionsOff` can
also change those of the decoder.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import torch
from torch import Tensor

from transformer.analysis.edits.attention_edits import MaskCell, WeightsSet
from transformer.analysis.edits.checks import Stack, check_head, check_layer
from transformer.analysis.edits.mask_edits import MaskPart, within_window, without_causal_part, without_padding_part
from transformer.analysis.edits.sublayer_edits import ResidualOff, SublayerOff
from transformer.errors import HeadlightError
from transformer.model import Probe, Transformer, census
from transformer.model.attention_kinds import SITES, Kind
from transformer.model.probe import InOrder, SiteEdit, resolve
from transformer.model.zero_edit import Zero, is_head

SiteEdits = dict[str, SiteEdit]
POSITIONS = "encoder.embedding.positions"
EMBEDDED = "encoder.embedding.output"
TEMPERATURES = 1e-6, 1e6  # lowest and highest: beyond them scores may become infinite or NaN in float32


@dataclass(frozen=True)
class HeadOff:
    """A head writes nothing: as if its rows of W^O were 0.

    Attributes:
        head: None: all heads of the layer.
    """

    kind: Kind
    layer: int
    head: int | None

    def sites(self, model: Transformer) -> SiteEdits:
        """Raises HeadlightError: the model has no such head."""
        check_head(model.config, self.kind, self.layer, self.head or 0)
        return {f"{SITES[self.kind].format(self.layer)}.context": Zero(self.head)}


@dataclass(frozen=True)
class HeadUniform:
    """A head attends equally to all that its mask allows."""

    kind: Kind
    layer: int
    head: int

    def sites(self, model: Transformer) -> SiteEdits:
        """Raises HeadlightError: the model has no such head."""
        check_head(model.config, self.kind, self.layer, self.head)
        equal = _at_head(self.head, lambda scores: scores.masked_fill(scores.isfinite(), 0.0))
        return {f"{SITES[self.kind].format(self.layer)}.masked_scores": equal}


@dataclass(frozen=True)
class MaskOff:
    """A part of the masks is removed, in all layers.

    Attributes:
        part: "causal": the causal part in decoder self-attention. "padding": the padding in encoder self-attention and
            in encoder-decoder attention. "cross": the padding in encoder-decoder attention only, whose mask has no
            other part.
    """

    part: MaskPart

    def sites(self, model: Transformer) -> SiteEdits:
        """The masks of the kinds of attention that `part` concerns."""
        window = model.config.attention_window
        if self.part == "causal":
            return {f"{SITES['decoder'].format('*')}.mask": lambda mask: without_causal_part(mask, window)}
        towards: SiteEdits = {f"{SITES['cross'].format('*')}.mask": lambda mask: without_padding_part(mask, None)}
        if self.part == "cross":
            return towards
        return {f"{SITES['encoder'].format('*')}.mask": lambda mask: without_padding_part(mask, window), **towards}


@dataclass(frozen=True)
class AttentionWindow:
    """Restricted self-attention (section 4), in all layers: a query attends to itself and, at most, to so many
    positions on each side, as in a model that was trained with `attention_window`."""

    distance: int

    def sites(self, model: Transformer) -> SiteEdits:
        """The masks of self-attention in both stacks."""
        return {
            f"{SITES[kind].format('*')}.mask": lambda mask: within_window(mask, self.distance)
            for kind in ("encoder", "decoder")
        }


@dataclass(frozen=True)
class PositionsOff:
    """No positions in a stack, as if its table of positions were 0."""

    stack: Stack = "encoder"

    def sites(self, model: Transformer) -> SiteEdits:
        """The positions that are added to the embeddings."""
        return {f"{self.stack}.embedding.positions": torch.zeros_like}


@dataclass(frozen=True)
class PositionsShifted:
    """Every token of the source gets the position that is `by` places after its own."""

    by: int

    def sites(self, model: Transformer) -> SiteEdits:
        """The shifted positions. If the model does not have them, the edit raises HeadlightError when it is applied."""
        table = model.encoder.embedding.positions
        return {POSITIONS: lambda now: table(now.shape[1], start=self.by).to(now).expand_as(now).clone()}


@dataclass(frozen=True)
class PositionsShuffled:
    """The tokens of the source have each other's positions, in a random order."""

    seed: int

    def order(self, length: int) -> list[int]:
        """The position that each token gets, from `torch.randperm` with this seed."""
        found: list[int] = torch.randperm(length, generator=torch.Generator().manual_seed(self.seed)).tolist()
        return found

    def sites(self, model: Transformer) -> SiteEdits:
        """The positions that are added to the embeddings."""
        return {POSITIONS: lambda now: now[:, self.order(now.shape[1])]}  # (B, S, D)


@dataclass(frozen=True)
class PositionsSwapped:
    """Two tokens of the source have each other's positions; a sentence that is too short stays as it is."""

    first: int
    second: int

    def order(self, length: int) -> list[int]:
        """The position that each token gets."""
        order = list(range(length))
        if max(self.first, self.second) < length:
            order[self.first], order[self.second] = self.second, self.first
        return order

    def sites(self, model: Transformer) -> SiteEdits:
        """The positions that are added to the embeddings."""
        return {POSITIONS: lambda now: now[:, self.order(now.shape[1])]}  # (B, S, D)


@dataclass(frozen=True)
class Temperature:
    """Scores are divided by a temperature before the softmax, in one head: above 1 its attention is flatter."""

    kind: Kind
    layer: int
    head: int
    value: float

    def sites(self, model: Transformer) -> SiteEdits:
        """Raises HeadlightError: the model has no such head, or the temperature is not a number from 1e-6 to 1e6."""
        check_head(model.config, self.kind, self.layer, self.head)
        lowest, highest = TEMPERATURES
        if not lowest <= self.value <= highest:
            raise HeadlightError(
                f"The temperature {self.value} should be a number from {lowest:g} to {highest:g}, such as 2."
            )
        site = f"{SITES[self.kind].format(self.layer)}.masked_scores"
        return {site: _at_head(self.head, lambda scores: scores / self.value)}


@dataclass(frozen=True)
class VectorPatched:
    """After a layer of the encoder, the vector of one position is that of another sentence (activation patching).

    Attributes:
        layer: None: after the embedding, before the first layer.
        source_ids: the other sentence as the encoder reads it, </s> included. The model that is edited computes its
            vector, without the other edits.
    """

    layer: int | None
    position: int
    source_ids: tuple[int, ...]

    def sites(self, model: Transformer) -> SiteEdits:
        """Raises HeadlightError: the model has no such layer, or the other sentence no such position."""
        config = model.config
        check_layer(config, "encoder", self.layer or 0)
        if not 0 <= self.position < len(self.source_ids):
            raise HeadlightError(
                f"Position {self.position + 1} is not in the other sentence, which has {len(self.source_ids)} tokens."
            )
        if not all(0 <= token < config.vocab_size for token in self.source_ids):
            raise HeadlightError(f"The other sentence has a token that is not below {config.vocab_size}.")
        last = "residual_sum" if config.norm == "pre" else "norm_out"
        site = f"encoder.layers.{self.layer}.feed_forward.{last}" if self.layer is not None else EMBEDDED
        probe = Probe(census(config), record=[site])
        with torch.inference_mode():
            model.encoder(torch.tensor([self.source_ids], device=model.output.weight.device), probe.at("encoder"))
        vector = probe.records[site][0, self.position].clone()  # (D)

        def patched(now: Tensor) -> Tensor:
            if self.position >= now.shape[1]:
                return now
            here = torch.arange(now.shape[1], device=now.device)[:, None] == self.position  # (S, 1)
            return torch.where(here, vector.to(now), now)  # (B, S, D)

        return {site: patched}


Edit = (
    HeadOff | HeadUniform | SublayerOff | ResidualOff | MaskOff | AttentionWindow | MaskCell | WeightsSet
    | PositionsOff | PositionsShifted | PositionsShuffled | PositionsSwapped | Temperature | VectorPatched
)  # fmt: skip
_MASKS_FIRST: dict[type, int] = {MaskOff: 0, AttentionWindow: 1}


def model_edits(edits: Iterable[Edit], model: Transformer) -> SiteEdits:
    """The changes of these edits by site, for `EditedTransformer`. Several changes at one site keep their order, but
    parts of a mask are removed before a window is added, and cells are edited last, so they stay as they are edited.

    Raises:
        HeadlightError: an edit does not fit this model.
    """
    names = census(model.config)
    at_site: dict[str, tuple[SiteEdit, ...]] = {}
    for edit in sorted(edits, key=lambda edit: _MASKS_FIRST.get(type(edit), len(_MASKS_FIRST))):
        for pattern, change in edit.sites(model).items():
            for site in resolve(pattern, list(names)):
                at_site[site] = (*at_site.get(site, ()), change)
    return {site: InOrder(changes) for site, changes in at_site.items()}


def _at_head(head: int, change: Callable[[Tensor], Tensor]) -> SiteEdit:
    def changed(now: Tensor) -> Tensor:
        return torch.where(is_head(head, now), change(now), now)  # (B, H, Q, …)

    return changed
