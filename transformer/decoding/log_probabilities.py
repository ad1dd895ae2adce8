"""Logits -> log-probabilities of the tokens that may be predicted next."""

import math

import torch
from torch import Tensor

from transformer.config import EOS


def next_log_probabilities(logits: Tensor, forced: int | None) -> Tensor:
    """Logits (B, W, V) of the next token -> log-probabilities (B, W, V), in float32 or float64.

    PAD, UNK and BOS are -inf; if a token is `forced` (by a prefix), all other tokens are. The probabilities of the
    remaining tokens are not changed.
    """
    found = logits.log_softmax(dim=-1, dtype=torch.promote_types(logits.dtype, torch.float32))  # (B, W, V)
    if forced is None:
        found.narrow(-1, 0, EOS).fill_(-math.inf)  # PAD, UNK and BOS are the ids below EOS
    else:
        only = found[..., forced].clone()  # (B, W)
        found.fill_(-math.inf)
        found[..., forced] = only
    return found
