"""Training in float16, here on a CPU: an update that overflows is repeated with half the scale."""

import math
from collections.abc import Iterator
from dataclasses import asdict, replace
from itertools import repeat
from pathlib import Path

import pytest
import torch
from torch import Tensor

from tests.support.small_training import (
    MODEL,
    assert_same_run,
    metadata,
    stop_after,
    toy_recipe,
    training_of,
    wrap_update,
)
from transformer.config import TrainingPrecision
from transformer.data.batches import Batch, collate
from transformer.data.training_data import Position
from transformer.errors import TrainingError
from transformer.model import Transformer
from transformer.training import train
from transformer.training.data_parallel import DataParallel
from transformer.training.learning_rate import learning_rate
from transformer.training.training import Training

UPDATES = 12


def training(precision: TrainingPrecision, clip_norm: float = 0.0) -> Training:
    """A model without dropout, on the same three batches again and again."""
    recipe = toy_recipe(precision=precision, clip_norm=clip_norm, accumulate=3)
    torch.manual_seed(4)
    model = Transformer(replace(MODEL, dropout=0.0, embedding_dropout=0.0))
    drawn = [torch.randint(4, 400, (2, 6, length)).tolist() for length in (3, 7, 5)]
    batches: Iterator[tuple[Batch, Position]] = (
        (collate(*pair), Position(0, number)) for pairs in repeat(drawn) for number, pair in enumerate(pairs, start=1)
    )
    return training_of(model, recipe, batches)


def overflow(monkeypatch: pytest.MonkeyPatch, times: int, factor: float = math.inf) -> list[int]:
    """The next so many losses are infinite. Returns a list with an entry for each loss."""
    make, made = DataParallel.loss, list[int]()

    def loss(parallel: DataParallel, batch: Batch) -> Tensor:
        made.append(len(made))
        return make(parallel, batch) * (factor if len(made) <= times else 1.0)

    monkeypatch.setattr(DataParallel, "loss", loss)
    return made


def weights(training: Training) -> dict[str, Tensor]:
    return {name: weight.detach().clone() for name, weight in training.model.named_parameters()}


def test_float16_learns_what_float32_learns() -> None:
    exact, half = training("float32"), training("float16")
    start = weights(exact)
    for _ in range(UPDATES):
        (ours,), (theirs,) = half.update(), exact.update()
        assert ours.loss == pytest.approx(theirs.loss, rel=0.01)
        assert ours.gradient_norm == pytest.approx(theirs.gradient_norm, rel=0.05)
    assert half.progress.loss_scale == 2.0**16
    assert half.progress.updates_without_overflow == UPDATES
    moved = math.sqrt(sum(float((weight - start[name]).square().sum()) for name, weight in weights(exact).items()))
    apart = math.sqrt(
        sum(float((weight - weights(half)[name]).square().sum()) for name, weight in weights(exact).items())
    )
    assert apart < 0.1 * moved


def test_a_gradient_is_clipped_after_it_is_unscaled() -> None:
    one, seen = training("float16", clip_norm=0.01), list[float]()

    def measure(*_: object) -> None:
        gradients = [weight.grad for weight in one.model.parameters() if weight.grad is not None]
        seen.append(float(torch.nn.utils.get_total_norm(gradients)))

    one.optimizer.register_step_pre_hook(measure)
    (update,), (exact,) = one.update(), training("float32").update()
    assert update.gradient_norm == pytest.approx(exact.gradient_norm, rel=0.05)
    assert seen == [pytest.approx(0.01, rel=1e-3)]


def test_an_update_that_overflows_is_repeated_with_half_the_scale(monkeypatch: pytest.MonkeyPatch) -> None:
    calm, one = training("float16"), training("float16")
    calm.update()
    one.update()
    made = overflow(monkeypatch, 4)  # the first attempt, and the second
    (update,) = one.update()
    monkeypatch.undo()
    (expected,) = calm.update()
    assert len(made) == 3 * 3
    assert one.progress.loss_scale == 2.0**14
    assert one.progress.updates_without_overflow == 1
    assert {float(state["step"]) for state in one.optimizer.state.values()} == {2.0}
    assert update.rate == expected.rate == learning_rate(2, one.recipe.training, MODEL.d_model)
    assert update.loss == pytest.approx(expected.loss, rel=1e-6)
    changed = {"loss_scale", "updates_without_overflow", "seconds", "recent_seconds", "recent_loss"}
    left, right = asdict(one.progress), asdict(calm.progress)
    assert {name for name in left if left[name] != right[name]} <= changed
    for name, weight in weights(one).items():  # the scales are powers of two: only the smallest gradients differ
        torch.testing.assert_close(weight, weights(calm)[name], rtol=0, atol=1e-3, msg=name)


@pytest.mark.parametrize("factor", [math.inf, math.nan])
def test_a_loss_that_overflows_at_every_scale_ends_the_run_with_the_weights_before(
    factor: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = training("float16")
    one.update()
    before, progress = weights(one), one.progress.update
    made = overflow(monkeypatch, 1000, factor)
    with pytest.raises(TrainingError, match="The loss or its gradient is NaN or infinite at update 2 "):
        one.update()
    assert len(made) == 3 * 17  # scales from 2^16 to 2^0
    assert one.progress.update == progress
    for name, weight in weights(one).items():
        assert torch.equal(weight, before[name])


def test_a_resumed_run_continues_with_the_scale_to_the_same_bits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = toy_recipe(precision="float16", updates=8, validate_every=8)
    make = DataParallel.loss
    overflowing = set[int]()

    def before(training: Training) -> None:
        overflowing.update({training.progress.update} & {2, 6})

    def loss(parallel: DataParallel, batch: Batch) -> Tensor:
        found = make(parallel, batch)
        if overflowing:
            overflowing.clear()
            return found * math.inf
        return found

    monkeypatch.setattr(DataParallel, "loss", loss)
    wrap_update(monkeypatch, before=before)
    train(recipe, tmp_path / "alone", device="cpu")
    with monkeypatch.context() as patch:
        stop_after(5, patch)
        with pytest.raises(TrainingError, match="Stopped by SIGTERM after update 5"):
            train(recipe, tmp_path / "run", device="cpu")
    stopped = metadata(tmp_path / "run" / "training.safetensors")["progress"]
    assert (stopped["loss_scale"], stopped["updates_without_overflow"]) == (2.0**15, 3)
    train(recipe, tmp_path / "run", resume=True, device="cpu")
    assert_same_run(tmp_path / "run", tmp_path / "alone")
    progress = metadata(tmp_path / "run" / "training.safetensors")["progress"]
    assert (progress["loss_scale"], progress["updates_without_overflow"]) == (2.0**14, 2)
    assert progress["computed_in"].startswith("float16 on cpu")


def test_the_scale_doubles_after_many_updates_without_overflow() -> None:
    one = training("float16")
    one.progress.updates_without_overflow = 1999
    one = replace(one)  # a run that is resumed there
    one.update()
    assert (one.progress.loss_scale, one.progress.updates_without_overflow) == (2.0**17, 0)
