"""Packed weights give the product that torch gives, for one map and for several side by side."""

import pytest
import torch
from torch import nn
from torch.nn.functional import linear

from transformer.kernels.packed_linear import packed, packed_weight

NEAR = {torch.float32: 1e-5, torch.float64: 1e-12, torch.bfloat16: 0.05}


@pytest.mark.parametrize("dtype", NEAR)
@pytest.mark.parametrize("rows", [1, 3, 70])
@torch.no_grad()
def test_packed_maps_equal_linear(rows: int, dtype: torch.dtype) -> None:
    maps = [nn.Linear(24, width).to(dtype) for width in (16, 40)]
    x = torch.randn(rows, 24, dtype=dtype)
    expected = torch.cat([each(x) for each in maps], dim=-1)
    torch.testing.assert_close(packed(*maps)(x), expected, rtol=0, atol=NEAR[dtype])
    expected = linear(x, maps[0].weight)
    torch.testing.assert_close(packed_weight(maps[0].weight)(x), expected, rtol=0, atol=NEAR[dtype])
    with_bias = packed_weight(maps[0].weight, maps[0].bias)
    torch.testing.assert_close(with_bias(x), maps[0](x), rtol=0, atol=NEAR[dtype])


@torch.no_grad()
def test_packed_weights_are_copies() -> None:
    one = nn.Linear(8, 8)
    x, found = torch.randn(2, 8), packed(one)
    before = found(x)
    one.weight.zero_()
    assert torch.equal(found(x), before)
