"""Scores: what may come next, and the best of it, found without looking everywhere."""

import math

import pytest
import torch

from transformer.config import EOS
from transformer.decoding.scores import best, score


@pytest.mark.parametrize("pieces", [5, 64, 1000, 1024, 1087])
@pytest.mark.parametrize("count", [1, 3, 8, 200])
def test_the_best_by_blocks_are_the_best(pieces: int, count: int) -> None:
    """Also where they stand in one block, and where they are among those that fill no block."""
    scores = torch.stack([torch.randperm(pieces) for _ in range(6)]).reshape(2, 3, pieces).float()
    scores[0, 0], scores[0, 1] = scores[0, 0].sort().values, scores[0, 1].sort(descending=True).values
    expected = scores.topk(min(count, pieces))
    found = best(scores, count)
    assert torch.equal(found[0], expected.values)
    assert torch.equal(found[1], expected.indices)


def test_where_one_piece_is_forced_it_is_the_best() -> None:
    logits = torch.randn(1, 2, 700)
    for forced in (4, 333, 699):
        found, ids = best(score(logits, forced), 4)
        assert (ids[..., 0] == forced).all()
        torch.testing.assert_close(found[..., 0], logits.log_softmax(-1)[..., forced])
        assert (found[..., 1:] == -math.inf).all()


def test_what_never_comes_next_keeps_its_share_of_the_probability() -> None:
    logits = torch.randn(2, 3, 20)
    scores = score(logits.clone(), None)
    assert (scores[..., :EOS] == -math.inf).all()
    torch.testing.assert_close(scores[..., EOS:], logits.log_softmax(-1)[..., EOS:])


def test_half_precision_is_scored_in_float32() -> None:
    logits = torch.randn(1, 1, 500, dtype=torch.bfloat16)
    torch.testing.assert_close(score(logits, None)[..., EOS:], logits.float().log_softmax(-1)[..., EOS:])
