"""Activation patching: how much of a translation the vector of one position, after one layer of the encoder, decides.

Two sentences a and b with as many tokens have the translations y and z. One vector of a is replaced by that of b, and
all else is computed on from there. The model then prefers one of the translations by

    m = log p(z) - log p(y)                    (teacher forcing)
    effect = (m - m_a) / (m_b - m_a)           0: as sentence a, 1: as sentence b

Vig et al. (2020) and Meng et al. (2022) exchange vectors in this way. The tokens with which both translations begin
have no share in m.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

import numpy as np
import torch
from torch import Tensor

from transformer.config import BOS
from transformer.errors import HeadlightError
from transformer.model import Transformer, masks

AT_ONCE = 32  # rows in a batch of the decoder
Ids = tuple[int, ...]


@dataclass(frozen=True)
class Pair:
    """Two sentences and their translations.

    Attributes:
        sources: as the encoder reads them, </s> included.
        targets: as for `transformer.analysis.trace.trace`.

    Raises:
        HeadlightError: nothing can be patched, or nothing would change.
    """

    sources: tuple[Ids, Ids]
    targets: tuple[Ids, Ids]

    def __post_init__(self) -> None:
        source, other = map(len, self.sources)
        if source != other:
            raise HeadlightError(
                f"The sentences have {source} and {other} tokens. A vector can be replaced only by that of the same "
                "position, so both need as many."
            )
        if self.sources[0] == self.sources[1]:
            raise HeadlightError("Both sentences are the same, so there is no other vector.")
        if self.targets[0] == self.targets[1]:
            raise HeadlightError("Both sentences have the same translation, so there is no difference to measure.")


def patch_effects(model: Transformer, pair: Pair, layer: int | None) -> np.ndarray:
    """The effect of each position of the other sentence alone, after a layer: (S).

    Args:
        model: in eval mode, without edits.
        layer: of the encoder, from 0; None: after the embedding.

    Raises:
        HeadlightError: the model prefers no translation more after the one sentence than after the other.
    """
    start = 0 if layer is None else layer + 1
    with torch.inference_mode():
        ids = _ids(model, pair)  # (2, S)
        both = _layers(model, model.encoder.embedding(ids), ids, slice(start))  # (2, S, D)
        positions = torch.eye(ids.shape[1], dtype=torch.bool, device=ids.device)  # (S, S)
        rows = _layers(model, _with_patches(both, positions), ids, slice(start, None))  # (2 + S, S, D)
        return _effects(model, pair, rows if model.encoder.norm is None else model.encoder.norm(rows))


def stays_in_place(model: Transformer, pair: Pair) -> float:
    """The effect, after the last layer, of all positions at which the sentences have different tokens: 1 if the encoder
    has written nothing of them to other positions that the decoder needs. Arguments and errors: `patch_effects`."""
    with torch.inference_mode():
        ids = _ids(model, pair)  # (2, S)
        return float(_effects(model, pair, _with_patches(model.encoder(ids), (ids[0] != ids[1])[None]))[0])


def _ids(model: Transformer, pair: Pair) -> Tensor:
    return torch.tensor(pair.sources, device=model.output.weight.device)  # (2, S)


def _layers(model: Transformer, rows: Tensor, ids: Tensor, which: slice) -> Tensor:
    """Rows (B, S, D) after these layers of the encoder."""
    mask = masks.source_mask(ids[:1].expand(len(rows), -1), model.encoder.window)  # (B, 1, 1 or S, S)
    for layer in model.encoder.layers[which]:
        rows = layer(rows, mask)
    return rows


def _with_patches(both: Tensor, where: Tensor) -> Tensor:
    """Both sentences (2, S, D), then the first with vectors of the other at some positions (N, S): (2 + N, S, D)."""
    return torch.cat([both, torch.where(where[..., None], both[1], both[0])])  # (2 + N, S, D)


def _effects(model: Transformer, pair: Pair, memory: Tensor) -> np.ndarray:
    """Of the rows after the first two, which are the sentences as they are: (2 + N, S, D) -> (N)."""
    common = sum(1 for _ in takewhile(lambda two: two[0] == two[1], zip(*pair.targets, strict=False)))
    found = [
        _log_probability(model, some, pair.targets[1], common) - _log_probability(model, some, pair.targets[0], common)
        for some in memory.split(AT_ONCE)
    ]
    own, other, *_ = preference = torch.cat(found).numpy()  # (2 + N)
    if not other > own:
        raise HeadlightError("After the other sentence, the model does not prefer its translation more than before.")
    return np.asarray((preference[2:] - own) / (other - own))


def _log_probability(model: Transformer, memory: Tensor, target_ids: Sequence[int], start: int) -> Tensor:
    """Of a translation from token `start` on, given those before it, after each memory (B, S, D): (B) float64."""
    size, device = len(memory), memory.device
    reads = torch.tensor([[BOS, *target_ids[:-1]]] * size, device=device)  # (B, T)
    predicted = torch.tensor([list(target_ids[start:])] * size)  # (B, T - start)
    no_padding = torch.ones(size, 1, 1, memory.shape[1], dtype=torch.bool, device=device)  # (B, 1, 1, S)
    states = model.decoder(reads, memory, no_padding)[:, start:]  # (B, T - start, D)
    logits = model.predict(states).cpu().double()  # (B, T - start, V); on the CPU: Apple's GPU has no float64
    chosen = logits.gather(-1, predicted[..., None])[..., 0]  # (B, T - start)
    return (chosen - logits.logsumexp(dim=-1)).sum(dim=-1)  # (B)
