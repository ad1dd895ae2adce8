"""The loss in blocks is torch's cross-entropy with label smoothing, and so are its gradients."""

import pytest
import torch
from torch import nn

from transformer.kernels import cross_entropy

V = 50


@pytest.mark.parametrize("block", [1, 3 * V + 1, 10**6])  # one row at a time, three, all
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_loss_and_gradients_in_blocks_are_those_of_torch(
    smoothing: float, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(cross_entropy.BLOCK, "cpu", block)
    states = torch.randn(7, 16, dtype=torch.float64, requires_grad=True)
    weight = torch.randn(V, 16, dtype=torch.float64, requires_grad=True)
    labels = torch.randint(0, V, (7,))
    ours = cross_entropy.linear_cross_entropy(states, weight, labels, smoothing)
    theirs = nn.CrossEntropyLoss(label_smoothing=smoothing, reduction="sum")(states @ weight.T, labels)
    torch.testing.assert_close(ours, theirs, rtol=1e-13, atol=0)
    gradients = (torch.autograd.grad(loss / 3, (states, weight)) for loss in (ours, theirs))
    for mine, expected in zip(*gradients, strict=True):
        torch.testing.assert_close(mine, expected, rtol=0, atol=1e-13)


def test_under_autocast_the_loss_is_summed_in_float32_and_the_gradients_have_the_weights_precision(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(cross_entropy.BLOCK, "cpu", 7 * V)  # 43 blocks to add up
    states, weight = torch.randn(300, 64, requires_grad=True), torch.randn(V, 64, requires_grad=True)
    labels = torch.randint(0, V, (300,))
    exact = cross_entropy.linear_cross_entropy(states, weight, labels, 0.1)
    with torch.autocast("cpu", torch.bfloat16):
        loss = cross_entropy.linear_cross_entropy(states, weight, labels, 0.1)
    assert loss.dtype == torch.float32
    torch.testing.assert_close(loss, exact, rtol=1e-3, atol=0)
    for rough, expected in zip(*(torch.autograd.grad(x, (states, weight)) for x in (loss, exact)), strict=True):
        assert rough.dtype == torch.float32
        assert (rough - expected).norm() < 0.02 * expected.norm()


def test_autocast_leaves_float64_alone() -> None:
    states, weight = (torch.randn(size, 16, dtype=torch.float64, requires_grad=True) for size in (7, V))
    labels = torch.randint(0, V, (7,))
    expected = cross_entropy.linear_cross_entropy(states, weight, labels, 0.1)
    with torch.autocast("cpu", torch.bfloat16):
        assert cross_entropy.linear_cross_entropy(states, weight, labels, 0.1).equal(expected)
