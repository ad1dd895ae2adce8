"""What an update does on a GPU, here on a CPU whose numbers are not read in each update."""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from tests.support.small_training import MODEL, assert_same_run, toy_recipe, training_of, wrap_update
from transformer.config import PAD
from transformer.data.batches import Batch, collate
from transformer.data.training_data import Position
from transformer.errors import TrainingError
from transformer.kernels import fast_attention
from transformer.model import Transformer
from transformer.training import train
from transformer.training.data_parallel import DataParallel
from transformer.training.measurements import READ_EVERY
from transformer.training.training import Training


def drawn(number: int) -> tuple[Batch, Position]:
    return collate([[5] * (number + 1), [6, 7]], [[8] * (number + 2), [9]]), Position(0, number + 1)


class Reads(TorchDispatchMode):
    """Records the operations whose result a program, or the shape of a result, needs numbers from the device for."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        tags = (torch.Tag.data_dependent_output, torch.Tag.dynamic_output_shape)
        if func is torch.ops.aten.index.Tensor:
            reads = any(index is not None and index.dtype == torch.bool for index in args[1])
        else:
            reads = any(tag in func.tags for tag in tags)
        if reads:
            self.found.append(str(func))
        return func(*args, **(kwargs or {}))


@pytest.mark.parametrize("output_bias", [False, True])
def test_an_update_on_a_gpu_reads_nothing_from_it(output_bias: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Training, "reads_each", False)
    monkeypatch.setattr(fast_attention, "FEW_KEYS", -1)  # the kernel of all other devices
    recipe = toy_recipe(updates=100, log_every=50, validate_every=50, save_every=50, accumulate=2, clip_norm=1.0)
    one = training_of(Transformer(replace(MODEL, output_bias=output_bias)), recipe, map(drawn, range(100)))
    with Reads() as reads:
        for _ in range(READ_EVERY - 1):
            assert one.update() == []
        assert reads.found == []
        monkeypatch.setattr(Training, "reads_each", True)
        assert len(one.update()) == READ_EVERY
        assert reads.found == ["aten._local_scalar_dense.default"]  # whether the norm is finite
        batch, _ = drawn(1)
        assert len(batch.labels[batch.labels != PAD]) == batch.target_tokens
        assert reads.found[1:] == ["aten.index.Tensor"]


def test_a_run_whose_numbers_are_read_from_time_to_time_ends_in_the_same_bits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = toy_recipe(updates=23, log_every=7, validate_every=9, save_every=8, snapshots=(5, 6))
    train(recipe, tmp_path / "each", device="cpu")
    monkeypatch.setattr(Training, "reads_each", False)
    unread: list[int] = []
    wrap_update(monkeypatch, after=lambda training: unread.append(len(training.measurements)))
    train(recipe, tmp_path / "some", device="cpu")
    assert_same_run(tmp_path / "some", tmp_path / "each")
    assert [update for update, count in enumerate(unread, start=1) if not count] == [
        5, 6, 7, 8, 9, 10, 14, 16, 18, 20, 21, 23,
    ]  # fmt: skip


@pytest.mark.parametrize("wrong", [math.nan, math.inf])
def test_a_nan_that_is_read_later_has_changed_no_weight(wrong: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Training, "reads_each", False)
    make, calls = DataParallel.loss, [0]

    def loss(parallel: DataParallel, batch: Batch) -> Tensor:
        calls[0] += 1
        return make(parallel, batch) * (wrong if calls[0] == 3 else 1.0)

    monkeypatch.setattr(DataParallel, "loss", loss)
    recipe = toy_recipe(updates=100, log_every=50, validate_every=50, save_every=50)
    one = training_of(Transformer(MODEL), recipe, map(drawn, range(100)))
    one.update()
    one.update()
    before = [weight.detach().clone() for weight in one.model.parameters()]
    for _ in range(3, READ_EVERY):
        one.update()
    with pytest.raises(TrainingError, match="The loss or its gradient is NaN or infinite at update 3 "):
        one.update()
    assert one.progress.update == READ_EVERY
    for weight, same in zip(one.model.parameters(), before, strict=True):
        assert torch.equal(weight, same)
    assert {float(state["step"]) for state in one.optimizer.state.values()} == {2.0}
