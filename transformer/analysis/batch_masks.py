"""The parts of masks, and the effect of the padding mask (paper, section 3.2.3).

`mask_parts` gives the masks whose conjunction the model uses (test_the_parts_together_are_the_mask_of_the_model).
`padding_difference` shows that a sentence has the same values in a padded batch as alone, up to rounding.
"""

from collections.abc import Sequence
from typing import Literal

import numpy as np
import torch

from transformer.analysis.trace import trace, trace_batch
from transformer.config import ModelConfig
from transformer.model import Transformer, census, masks
from transformer.model.attention_kinds import Kind

Part = Literal["padding", "causal", "window"]


def mask_parts(
    config: ModelConfig, source_ids: Sequence[int], target_ids: Sequence[int], kind: Kind
) -> dict[Part, np.ndarray]:
    """The parts of the mask of one sentence of a batch, whose ids include padding.

    Args:
        source_ids: what the encoder reads. target_ids: what the decoder reads, <s> first.
        kind: encoder self-attention, decoder self-attention, or encoder-decoder attention.

    Returns:
        (Q, K) each, True = may attend.
    """
    keys = target_ids if kind == "decoder" else source_ids
    queries = source_ids if kind == "encoder" else target_ids
    shape = (len(queries), len(keys))
    parts: dict[Part, torch.Tensor] = {"padding": masks.padding_mask(torch.tensor([list(keys)]))}  # (1, 1, 1, K)
    if kind == "decoder":
        parts["causal"] = masks.causal_mask(len(keys))  # (1, 1, K, K)
    if kind != "cross" and config.attention_window is not None:
        parts["window"] = masks.window_mask(len(keys), config.attention_window)  # (1, 1, K, K)
    return {name: part[0, 0].expand(shape).numpy() for name, part in parts.items()}


def padding_difference(
    model: Transformer, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]], row: int
) -> dict[str, float]:
    """By site, the largest absolute difference between a sentence in the padded batch and the same sentence alone.

    Args:
        sources, targets: as for `trace_batch`.
        row: the number of the sentence.
    """
    alone = trace(model, sources[row], targets[row])
    padded = trace_batch(model, sources, targets)[row]
    sizes = {"S": len(sources[row]), "T": len(targets[row])}
    found = {}
    for site, shape in census(model.config).items():
        real = padded[site][tuple(slice(sizes.get(letter)) for letter in shape[1:])]
        same = real == alone[site]  # also where both are -inf, whose difference would be NaN
        a, b = (np.where(same, 0.0, array).astype(np.float64) for array in (real, alone[site]))
        found[site] = float(np.abs(a - b).max())
    return found
