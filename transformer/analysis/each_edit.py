"""What each of several edits does alone, in a few passes over one finished translation (teacher forcing).

The sentence is in the batch once for each edit, and each row of the batch has an edit of its own: 144 heads take
as many rows, and not as many passes. Edits of the decoder alone share one pass of the encoder.
"""

from collections.abc import Iterator, Sequence

import numpy as np
import torch
from torch import Tensor

from transformer.analysis.edits import Edit, HeadOff, SublayerOff
from transformer.analysis.edits.model_edits import SiteEdits, Stack, Sublayer
from transformer.config import BOS, ModelConfig
from transformer.model import Probe, Transformer, census, masks
from transformer.model.attention_kinds import Kind
from transformer.model.probe import Edit as SiteEdit

AT_ONCE = 24  # rows in a batch
_SUBLAYERS: dict[Stack, tuple[Sublayer, ...]] = {
    "encoder": ("self_attention", "feed_forward"),
    "decoder": ("self_attention", "cross_attention", "feed_forward"),
}
_KINDS: dict[Stack, tuple[Kind, ...]] = {"encoder": ("encoder",), "decoder": ("decoder", "cross")}


def parts_by_layer(config: ModelConfig) -> Iterator[tuple[HeadOff | SublayerOff, ...]]:
    """Every head and every sub-layer that can be switched off; one tuple for each layer of the encoder, then of the
    decoder."""
    depths: dict[Stack, int] = {"encoder": config.encoder_layers, "decoder": config.decoder_layers}
    for stack, layers in depths.items():
        for layer in range(layers):
            heads = [HeadOff(kind, layer, head) for kind in _KINDS[stack] for head in range(config.heads)]
            yield (*heads, *(SublayerOff(stack, layer, sublayer) for sublayer in _SUBLAYERS[stack]))


def log_probabilities_with_each(
    model: Transformer, source_ids: Sequence[int], target_ids: Sequence[int], edits: Sequence[Edit]
) -> np.ndarray:
    """The log-probability of each token of a translation under each edit: (edits, T) float64, in nats.

    Args:
        model: in eval mode.
        source_ids, target_ids: as for `transformer.analysis.trace.trace`.

    Raises:
        HeadlightError: an edit does not fit this model.
    """
    changes = [edit.sites(model) for edit in edits]
    rows = [changes[i : i + AT_ONCE] for i in range(0, len(changes), AT_ONCE)]
    return np.concatenate([_log_probabilities(model, source_ids, target_ids, some) for some in rows])


def _log_probabilities(
    model: Transformer, source_ids: Sequence[int], target_ids: Sequence[int], rows: Sequence[SiteEdits]
) -> np.ndarray:
    size, device = len(rows), model.output.weight.device
    source = torch.tensor([list(source_ids)], device=device)  # (1, S)
    reads = torch.tensor([[BOS, *target_ids[:-1]]] * size, device=device)  # (B, T)
    predicted = torch.tensor([list(target_ids)] * size, device=device)  # (B, T)
    probe = Probe(census(model.config), edits=_row_by_row(rows))
    in_encoder = any(site.startswith("encoder.") for row in rows for site in row)
    with torch.inference_mode():
        read = source.expand(size if in_encoder else 1, -1)  # (B or 1, S)
        memory = model.encoder(read, probe.at("encoder")).expand(size, -1, -1)  # (B, S, D)
        mask = masks.padding_mask(source).expand(size, -1, -1, -1)  # (B, 1, 1, S)
        states = model.decoder(reads, memory, mask, probe.at("decoder"))  # (B, T, D)
        logits = model.predict(states, probe).cpu().double()  # (B, T, V); on the CPU: Apple's GPU has no float64
        chosen = logits.gather(-1, predicted.cpu()[..., None])[..., 0]  # (B, T)
        found: np.ndarray = (chosen - logits.logsumexp(dim=-1)).numpy()  # (B, T)
        return found


def _row_by_row(rows: Sequence[SiteEdits]) -> SiteEdits:
    """What is done at each site, in the rows of the batch whose edit is there."""
    at_site: dict[str, dict[int, SiteEdit]] = {}
    for row, changes in enumerate(rows):
        for site, change in changes.items():
            at_site.setdefault(site, {})[row] = change
    return {site: _in_rows(changes) for site, changes in at_site.items()}


def _in_rows(changes: dict[int, SiteEdit]) -> SiteEdit:
    def changed(now: Tensor) -> Tensor:
        parts = [
            changes[row](now[row : row + 1]) if row in changes else now[row : row + 1] for row in range(now.shape[0])
        ]
        return torch.cat(parts)  # (B, …)

    return changed
