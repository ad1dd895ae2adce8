"""Attention without a probe is equation 1 on each of its paths, in value and in gradient."""

import math
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from transformer.kernels.fast_attention import FEW_KEYS, additive_mask, attention, few_queries_attention


@pytest.mark.parametrize("rows", [3, 40])
@pytest.mark.parametrize("queries", [1, 3])
@pytest.mark.parametrize("in_a_cache", [False, True])
@pytest.mark.parametrize("masked", [False, True])
def test_attention_of_few_queries_is_equation_1_on_each_path(
    rows: int, queries: int, in_a_cache: bool, masked: bool
) -> None:
    keys = 9
    for dtype, near in ((torch.float64, 1e-12), (torch.bfloat16, 0.02)):
        query = torch.randn(rows, 2, queries, 8).to(dtype)
        key, value = torch.randn(2, rows, 2, keys, 8).to(dtype)
        if in_a_cache:  # key and value of a position lie side by side
            key, value = torch.stack([key, value], dim=3).transpose(1, 2).contiguous().transpose(1, 2).unbind(dim=3)
        assert key.is_contiguous() != in_a_cache
        added = torch.zeros(rows, 1, 1, keys).to(dtype)
        added[::2, ..., -2:] = -math.inf
        scores = query.double() @ key.double().transpose(-2, -1) / math.sqrt(8)
        expected = (scores + added.double() if masked else scores).softmax(dim=-1) @ value.double()
        got = few_queries_attention(query, key, value, added if masked else None)
        assert got.dtype == dtype
        torch.testing.assert_close(got.double(), expected, rtol=0, atol=near)


@pytest.mark.parametrize("keys", [7, FEW_KEYS, FEW_KEYS + 1])
@pytest.mark.parametrize("autocast", [True, False])
def test_on_the_cpu_few_keys_are_multiplied_all_at_once_and_bfloat16_in_float32(
    autocast: bool, keys: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    kinds = []

    def recording(*args: Any) -> Tensor:
        kinds.append(args[0].dtype)
        return scaled_dot_product_attention(*args)

    monkeypatch.setattr("transformer.kernels.fast_attention.scaled_dot_product_attention", recording)
    inputs = [torch.randn(2, 3, keys, 4, dtype=torch.bfloat16, requires_grad=True) for _ in range(3)]
    mask = torch.rand(2, 1, keys, keys) > 0.2
    with torch.autocast("cpu", torch.bfloat16, enabled=autocast):
        found = attention(inputs[0], inputs[1], inputs[2], mask)
    assert kinds == ([] if keys <= FEW_KEYS else [torch.float32])
    exact = [x.detach().float().requires_grad_() for x in inputs]
    expected = scaled_dot_product_attention(exact[0], exact[1], exact[2], mask)
    torch.testing.assert_close(found, expected.to(torch.bfloat16))
    found.sum().backward()
    expected.sum().backward()
    for ours, theirs in zip(inputs, exact, strict=True):
        assert ours.grad is not None
        assert theirs.grad is not None
        torch.testing.assert_close(ours.grad, theirs.grad.to(torch.bfloat16), rtol=2e-2, atol=2e-3)


@pytest.mark.parametrize("keys", [FEW_KEYS, FEW_KEYS + 1])
def test_dropout_of_weights_scales_what_is_left(keys: int) -> None:
    """On both paths: on average nothing changes, in one draw a part is missing."""
    query, key = torch.randn(1, 1, 1, 4), torch.zeros(1, 1, keys, 4)  # all keys weigh the same
    value = torch.eye(keys)[None, None]
    found = attention(query, key, value, None, dropout_rate=0.25)[0, 0, 0] * keys
    assert torch.isclose(found, torch.tensor(0.0)).logical_or(torch.isclose(found, torch.tensor(1 / 0.75))).all()
    assert 0.05 * keys < int((found == 0).sum()) < 0.5 * keys


def test_an_additive_mask_is_0_where_a_query_may_attend_and_minus_infinity_elsewhere() -> None:
    mask = torch.tensor([[True, False, True]])
    for dtype in (torch.float32, torch.bfloat16):
        found = additive_mask(mask, torch.ones(1, dtype=dtype))
        assert found.dtype == dtype
        assert found.tolist() == [[0.0, -math.inf, 0.0]]
