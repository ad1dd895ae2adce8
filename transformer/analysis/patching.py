"""Activation patching: how strongly one vector of the encoder (at a position, after a layer) decides the translation.

Sentences a and b have the same number of tokens; their translations are y and z. One vector of a is replaced by that of
b at the same position, and the later layers are computed from it. m says how much the model then prefers z to y:

    m = log p(z) - log p(y)                    (teacher forcing)
    effect = (m - m_a) / (m_b - m_a)           0: as sentence a, 1: as sentence b

m_a and m_b are m without patching, for a and for b. If y and z begin with the same tokens, these tokens are not counted
in m. Vig et al. (2020) and Meng et al. (2022) exchange vectors in this way.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

import numpy as np
import torch
from torch import Tensor

from transformer.errors import HeadlightError
from transformer.model import Transformer, masks
from transformer.model.forced_target import shifted_right, token_log_probabilities

DECODER_BATCH = 32
Ids = tuple[int, ...]


@dataclass(frozen=True)
class Pair:
    """Two sentences and their translations.

    Attributes:
        sources: as the encoder reads them, </s> included.
        targets: as for `transformer.analysis.trace.trace`.

    Raises:
        HeadlightError: the sentences have different numbers of tokens, or they or their translations are equal.
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
    """The effect of patching each position by itself, after a layer: (S).

    Args:
        model: in eval mode, without edits.
        layer: of the encoder, from 0; None: after the embedding.

    Raises:
        ValueError: the encoder has no such layer.
        HeadlightError: m_b is not greater than m_a.
    """
    if layer is not None and not 0 <= layer < len(model.encoder.layers):
        raise ValueError(f"layer {layer} of {len(model.encoder.layers)}")
    start = 0 if layer is None else layer + 1
    with torch.inference_mode():
        ids = _ids(model, pair)  # (2, S)
        both = _layers(model, model.encoder.embedding(ids), ids, slice(start))  # (2, S, D)
        positions = torch.eye(ids.shape[1], dtype=torch.bool, device=ids.device)  # (S, S)
        rows = _layers(model, _with_patches(both, positions), ids, slice(start, None))  # (2 + S, S, D)
        return _effects(model, pair, rows if model.encoder.norm is None else model.encoder.norm(rows))


def effect_of_changed_positions(model: Transformer, pair: Pair) -> float:
    """The effect of patching, after the last layer, all positions at which the tokens differ. It is 1 if the other
    positions have no information about these tokens that the decoder uses. Arguments and errors: see `patch_effects`.
    """
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
    """The effect of each row after the first two, which are the sentences without patching: (2 + N, S, D) -> (N)."""
    common = sum(1 for _ in takewhile(lambda two: two[0] == two[1], zip(*pair.targets, strict=False)))
    found = [
        _log_probability(model, some, pair.targets[1], common) - _log_probability(model, some, pair.targets[0], common)
        for some in memory.split(DECODER_BATCH)
    ]
    own, other, *_ = preference = torch.cat(found).numpy()  # (2 + N)
    if not other > own:
        raise HeadlightError(
            "The model does not prefer the second translation more for the second sentence than for the first."
        )
    return np.asarray((preference[2:] - own) / (other - own))


def _log_probability(model: Transformer, memory: Tensor, target_ids: Sequence[int], start: int) -> Tensor:
    """log p of `target_ids[start:]` given the tokens before, for each memory (B, S, D): (B) float64."""
    size, device = len(memory), memory.device
    decoder_input = torch.tensor([shifted_right(target_ids)] * size, device=device)  # (B, T)
    predicted = torch.tensor([list(target_ids[start:])] * size)  # (B, T - start)
    no_padding = torch.ones(size, 1, 1, memory.shape[1], dtype=torch.bool, device=device)  # (B, 1, 1, S)
    states = model.decoder(decoder_input, memory, no_padding)[:, start:]  # (B, T - start, D)
    logits = model.predict(states).cpu().double()  # (B, T - start, V); on the CPU: Apple's GPU has no float64
    return token_log_probabilities(logits, predicted).sum(dim=-1)  # (B)
