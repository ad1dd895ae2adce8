"""The best of a vocabulary, found in blocks, are those that torch finds."""

import pytest
import torch

from transformer.kernels.topk import topk


@pytest.mark.parametrize("vocabulary", [5, 64, 1000, 1024, 1087])
@pytest.mark.parametrize("count", [1, 3, 8, 200])
def test_the_best_by_blocks_are_the_best(vocabulary: int, count: int) -> None:
    """Also if all are in one block, and if they are in the rest after the last full block."""
    scores = torch.stack([torch.randperm(vocabulary) for _ in range(6)]).reshape(2, 3, vocabulary).float()
    scores[0, 0], scores[0, 1] = scores[0, 0].sort().values, scores[0, 1].sort(descending=True).values
    expected = scores.topk(min(count, vocabulary))
    found = topk(scores, count)
    assert torch.equal(found[0], expected.values)
    assert torch.equal(found[1], expected.indices)
