"""Log-probabilities of the next token: which tokens may be predicted."""

import math

import torch

from transformer.config import EOS
from transformer.decoding.log_probabilities import next_log_probabilities
from transformer.kernels.topk import topk


def test_a_forced_token_is_the_best() -> None:
    logits = torch.randn(1, 2, 700)
    for forced in (4, 333, 699):
        found, ids = topk(next_log_probabilities(logits, forced), 4)
        assert (ids[..., 0] == forced).all()
        torch.testing.assert_close(found[..., 0], logits.log_softmax(-1)[..., forced])
        assert (found[..., 1:] == -math.inf).all()


def test_forbidden_tokens_keep_their_share_of_the_probability() -> None:
    logits = torch.randn(2, 3, 20)
    scores = next_log_probabilities(logits.clone(), None)
    assert (scores[..., :EOS] == -math.inf).all()
    torch.testing.assert_close(scores[..., EOS:], logits.log_softmax(-1)[..., EOS:])


def test_scores_of_half_precision_are_float32() -> None:
    logits = torch.randn(1, 1, 500, dtype=torch.bfloat16)
    torch.testing.assert_close(
        next_log_probabilities(logits, None)[..., EOS:], logits.float().log_softmax(-1)[..., EOS:]
    )
