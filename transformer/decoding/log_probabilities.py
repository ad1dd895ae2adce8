"""From logits to the log-probabilities of what may be predicted next."""

import math

from torch import Tensor, promote_types
from torch import float32 as single

from transformer.config import EOS


def score(logits: Tensor, forced: int | None) -> Tensor:
    """Logits (B, W, V) of what comes next -> log-probabilities (B, W, V), in float32 or better.

    PAD, UNK and BOS never come next; if a piece is `forced` (a prefix that the user gave), nothing else does. What is
    forbidden becomes -inf; what is left keeps the probability that the model gave it.
    """
    scores = logits.log_softmax(dim=-1, dtype=promote_types(logits.dtype, single))  # (B, W, V)
    if forced is None:
        scores.narrow(-1, 0, EOS).fill_(-math.inf)  # PAD, UNK and BOS are the ids below EOS
    else:
        only = scores[..., forced].clone()  # (B, W)
        scores.fill_(-math.inf)
        scores[..., forced] = only
    return scores
