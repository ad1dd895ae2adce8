"""What the model predicts without one head of an attention, or with this head alone.

A removed head has a context of 0 in every row, so it writes nothing. (The bias of W^O, which all heads share, stays.)
One teacher-forced pass is enough for several heads: each row of the batch is the same sentence, and the edit keeps
different heads in each row.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from torch import Tensor

from transformer.model import Probe, Transformer, census
from transformer.model.forced_target import shifted_right

AT_ONCE = 8  # rows in a batch


@dataclass(frozen=True)
class Predictions:
    """The predictions with different sets of heads, one row for each set: all heads; then all except head 1, 2, ..., H;
    then only head 1, 2, ..., H; then no head.

    Attributes:
        top: (2 + 2H, T), the id with the highest probability at each step.
        top_probability: (2 + 2H, T), the probabilities of these ids.
        probability: (2 + 2H, T), the probabilities of the ids of the translation.
    """

    top: np.ndarray
    top_probability: np.ndarray
    probability: np.ndarray

    @property
    def heads(self) -> int:
        """The number of heads, H."""
        return len(self.top) // 2 - 1

    def without(self, head: int) -> int:
        """The row without this head, from 0."""
        return 1 + head

    def alone(self, head: int) -> int:
        """The row with this head alone, from 0."""
        return 1 + self.heads + head


def predictions_with_other_heads(
    model: Transformer, source_ids: Sequence[int], target_ids: Sequence[int], site: str
) -> Predictions:
    """Predicts the whole translation once with each of the sets of heads that `Predictions` lists.

    Args:
        model: in eval mode.
        source_ids, target_ids: as for `transformer.analysis.trace.trace`.
        site: of the attention, for example `decoder.layers.0.cross_attention`.
    """
    alone = torch.eye(model.config.heads, dtype=torch.bool, device=model.output.weight.device)  # (H, H)
    every = torch.ones_like(alone[:1])  # (1, H)
    kept = torch.cat([every, ~alone, alone, ~every])  # (2 + 2H, H)
    found = [_probabilities(model, source_ids, target_ids, site, rows) for rows in kept.split(AT_ONCE)]
    top, top_probability, probability = (torch.cat(parts).cpu().numpy() for parts in zip(*found, strict=True))
    return Predictions(top, top_probability, probability)


def _probabilities(
    model: Transformer, source_ids: Sequence[int], target_ids: Sequence[int], site: str, kept: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """The ids of the top tokens, their probabilities, and those of the translation's tokens: (B, T) each."""
    rows, device = len(kept), kept.device
    source = torch.tensor([list(source_ids)] * rows, device=device)  # (B, S)
    reads = torch.tensor([shifted_right(target_ids)] * rows, device=device)  # (B, T)
    predicted = torch.tensor([list(target_ids)] * rows, device=device)  # (B, T)
    probe = Probe(census(model.config), edits={f"{site}.context": partial(keep_heads, kept=kept)})
    with torch.inference_mode():
        probabilities = model(source, reads, probe).float().softmax(dim=-1)  # (B, T, V)
        top_probability, top = probabilities.max(dim=-1)  # (B, T) each
        return top, top_probability, probabilities.gather(-1, predicted[..., None])[..., 0]  # (B, T)


def keep_heads(context: Tensor, kept: Tensor) -> Tensor:
    """The context (B, H, Q, E), with 0 for the heads that are not kept; `kept` (B, H) is boolean."""
    return context * kept[:, :, None, None]  # (B, H, Q, E)
