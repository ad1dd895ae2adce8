"""The effect of each of several edits alone, in a few passes over one finished translation (teacher forcing).

Each row of a batch has its own edit, so one pass measures 24 edits. The batch has one row until the first edited site,
which repeats it once per edit: before that site all rows are equal.
"""

from collections.abc import Iterator, Sequence

import numpy as np
import torch
from torch import Tensor

from transformer.analysis.edits import Edit, HeadOff, ResidualOff, SublayerOff
from transformer.analysis.edits.checks import Stack, Sublayer
from transformer.analysis.edits.model_edits import SiteEdits
from transformer.config import ModelConfig
from transformer.model import Probe, Transformer, census
from transformer.model.attention_kinds import Kind
from transformer.model.forced_target import shifted_right, token_log_probabilities
from transformer.model.probe import SiteEdit

Part = HeadOff | SublayerOff | ResidualOff
AT_ONCE = 24  # rows in a batch
SUBLAYERS: dict[Stack, tuple[Sublayer, ...]] = {
    "encoder": ("self_attention", "feed_forward"),
    "decoder": ("self_attention", "cross_attention", "feed_forward"),
}
_KINDS: dict[Stack, tuple[Kind, ...]] = {"encoder": ("encoder",), "decoder": ("decoder", "cross")}


def parts_by_layer(config: ModelConfig) -> Iterator[tuple[Part, ...]]:
    """Every head, sub-layer and residual connection that can be switched off; one tuple for each layer of the encoder,
    then of the decoder."""
    depths: dict[Stack, int] = {"encoder": config.encoder_layers, "decoder": config.decoder_layers}
    for stack, layers in depths.items():
        for layer in range(layers):
            heads = [HeadOff(kind, layer, head) for kind in _KINDS[stack] for head in range(config.heads)]
            yield (
                *heads,
                *(SublayerOff(stack, layer, sublayer) for sublayer in SUBLAYERS[stack]),
                *(ResidualOff(stack, layer, sublayer) for sublayer in SUBLAYERS[stack]),
            )


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
    none = np.empty((0, len(target_ids)))
    return np.concatenate([none, *(_log_probabilities(model, source_ids, target_ids, some) for some in rows)])


def _log_probabilities(
    model: Transformer, source_ids: Sequence[int], target_ids: Sequence[int], rows: Sequence[SiteEdits]
) -> np.ndarray:
    device = model.output.weight.device
    source = torch.tensor([list(source_ids)], device=device)  # (1, S)
    reads = torch.tensor([shifted_right(target_ids)], device=device)  # (1, T)
    probe = Probe(census(model.config), edits=_row_by_row(rows))
    with torch.inference_mode():
        logits = model(source, reads, probe).cpu()  # (B, T, V); on the CPU: Apple's GPU has no float64
        predicted = torch.tensor(list(target_ids))  # (T)
        # Row by row, because all rows in float64 take much memory.
        found = [token_log_probabilities(row.double(), predicted) for row in logits.expand(len(rows), -1, -1)]
        return torch.stack(found).numpy()  # (B, T)


def _row_by_row(rows: Sequence[SiteEdits]) -> SiteEdits:
    """One edit for each site. It changes the rows of the batch that have an edit at this site."""
    at_site: dict[str, dict[int, SiteEdit]] = {}
    for row, changes in enumerate(rows):
        for site, change in changes.items():
            at_site.setdefault(site, {})[row] = change
    return {site: _in_rows(changes, len(rows)) for site, changes in at_site.items()}


def _in_rows(changes: dict[int, SiteEdit], size: int) -> SiteEdit:
    def changed(now: Tensor) -> Tensor:
        rows = list(now.expand(size, *now.shape[1:]).split(1))  # (1, …) each
        for row, change in changes.items():
            rows[row] = change(rows[row])
        return torch.cat(rows)  # (B, …)

    return changed
