"""A float32 matmul has the precision of float32 with every library."""

from collections.abc import Iterator
from typing import Any

import pytest
import torch

from transformer.kernels import matmul
from transformer.kernels.matmul import largest_error, use_fast_matmul

MATMUL: Any = torch.backends.mkldnn.matmul  # type: ignore[attr-defined]


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    before, MATMUL.fp32_precision = MATMUL.fp32_precision, "none"
    yield
    MATMUL.fp32_precision = before


def test_products_are_as_accurate_after_the_choice_as_before() -> None:
    before = largest_error()
    chosen = use_fast_matmul()
    assert largest_error() < max(5 * before, 2e-6)
    assert MATMUL.fp32_precision == ("bf16" if chosen else "none")


@pytest.mark.parametrize(("error", "precision"), [(8e-7, "bf16"), (2.6e-3, "none")])
def test_a_processor_that_rounds_to_bfloat16_is_refused(
    error: float, precision: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(matmul, "largest_error", lambda: error)
    assert use_fast_matmul() == (precision == "bf16")
    assert MATMUL.fp32_precision == precision


def test_the_probe_draws_no_random_numbers_of_the_run() -> None:
    torch.manual_seed(3)
    state = torch.get_rng_state()
    largest_error()
    assert torch.equal(torch.get_rng_state(), state)
