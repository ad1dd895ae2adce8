"""From logits to what may be predicted next."""

import math

from torch import Tensor, promote_types
from torch import float32 as single

from transformer.config import EOS


def score(logits: Tensor, forced: int | None) -> tuple[Tensor, Tensor]:
    """Forbids what may not come next, by setting it to -inf, and gives the normaliser of the softmax.

    PAD, UNK and BOS never come next; if a piece is `forced` (a prefix that the user gave), nothing else does. What is
    left keeps the probability that the model gave it: log p(piece) = logits[piece] - normaliser.

    Args:
        logits: (B, W, V); overwritten.

    Returns:
        logits (B, W, V) in float32 or better, normaliser (B, W, 1).
    """
    logits = logits.to(promote_types(logits.dtype, single))  # (B, W, V)
    normaliser = logits.logsumexp(dim=-1, keepdim=True)  # (B, W, 1)
    if forced is None:
        logits[..., :EOS] = -math.inf  # PAD, UNK and BOS are the ids below EOS
    else:
        only = logits[..., forced].clone()  # (B, W)
        logits.fill_(-math.inf)
        logits[..., forced] = only
    return logits, normaliser
