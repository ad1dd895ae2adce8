"""Teacher forcing: the decoder reads a given target shifted right (figure 1), and each token has a probability.

reads      <s>  Wo   ist  …   ?
predicts   Wo   ist  der  …   </s>
"""

from collections.abc import Sequence

from torch import Tensor

from transformer.config import BOS


def shifted_right(ids: Sequence[int]) -> tuple[int, ...]:
    """What the decoder reads to predict these T tokens, </s> included: <s>, then all but the last."""
    return (BOS, *ids[:-1])


def token_log_probabilities(logits: Tensor, ids: Tensor) -> Tensor:
    """The log-probability of each token, given those before it: logits (..., T, V) and ids (..., T) -> (..., T), in the
    precision of the logits."""
    return logits.log_softmax(dim=-1).gather(-1, ids[..., None])[..., 0]
