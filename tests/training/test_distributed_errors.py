"""An error on one of several ranks ends all of them, and is reported only once."""

import os
import re
import signal
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.support.ranks import EXACT, exact, go, messages, together
from tests.support.small_training import corpus_recipe, lines, metadata, stop_after, toy_recipe, write_pairs
from transformer.config import Recipe
from transformer.data.toy_tasks import toy_pairs
from transformer.data.training_data import TrainingData
from transformer.errors import CorpusError
from transformer.training import data_parallel, train


def go_with_a_wrong_loss(rank: int, recipe: Recipe, run: Path, factor: float) -> None:
    """The loss of one rank's rows is multiplied by NaN or infinity at the first attempt of update 7."""
    with pytest.MonkeyPatch.context() as patch:
        make = data_parallel.DataParallel.loss

        def loss(*arguments: Any) -> torch.Tensor:
            calls[0] += 1
            return make(*arguments) * (factor if calls[0] == 7 and rank == 1 else 1.0)

        calls = [0]
        patch.setattr(data_parallel.DataParallel, "loss", loss)
        go(rank, recipe, run)


def go_and_fail(rank: int, recipe: Recipe, run: Path) -> None:
    """One rank cannot read its fourth batch."""
    with pytest.MonkeyPatch.context() as patch:
        deal = TrainingData.stream

        def stream(*arguments: Any) -> Iterator[Any]:
            for number, drawn in enumerate(deal(*arguments)):
                if number == 3 and rank == 1:
                    raise CorpusError("The disk has a hole.")
                yield drawn

        patch.setattr(TrainingData, "stream", stream)
        go(rank, recipe, run)


def go_and_be_killed(rank: int, recipe: Recipe, run: Path, between: bool) -> None:
    """Rank 1 is killed after update 6; or in update 7, while the other waits for its gradients."""
    with pytest.MonkeyPatch.context() as patch:
        if rank == 1 and between:
            stop_after(6, patch, signal.SIGKILL)
        elif rank == 1:
            make = data_parallel.DataParallel.loss

            def loss(*arguments: Any) -> torch.Tensor:
                calls[0] += 1
                if calls[0] == 7:
                    os.kill(os.getpid(), signal.SIGKILL)
                return make(*arguments)

            calls = [0]
            patch.setattr(data_parallel.DataParallel, "loss", loss)
        go(rank, recipe, run)


def go_on_other_text(rank: int, recipe: Recipe, run: Path) -> None:
    if rank:
        other = write_pairs(run.with_name("other.tsv"), toy_pairs("numbers", 2, 150))
        recipe = replace(recipe, data=replace(recipe.data, train=(str(other),)))
    go(rank, recipe, run)


def test_a_nan_loss_on_one_rank_ends_all_with_one_message(tmp_path: Path) -> None:
    recipe = toy_recipe(save_every=6)
    assert together(2, go_with_a_wrong_loss, recipe, tmp_path / "run", torch.nan) == [1, 1]
    assert re.fullmatch(r"The loss or its gradient is NaN or infinite at update 7 .*\n", messages(tmp_path))
    assert metadata(tmp_path / "run" / "training.safetensors")["progress"]["update"] == 6


@pytest.mark.soak
def test_in_float16_all_ranks_repeat_an_update_in_which_one_overflows(tmp_path: Path) -> None:
    recipe = exact(toy_recipe(log_every=1, **EXACT | {"precision": "float16"}))
    assert together(2, go_with_a_wrong_loss, recipe, tmp_path / "run", torch.inf) == [0, 0]
    progress = metadata(tmp_path / "run" / "training.safetensors")["progress"]
    assert (progress["update"], progress["loss_scale"], progress["updates_without_overflow"]) == (12, 2.0**15, 6)
    train(recipe, tmp_path / "one", device="cpu")
    for line, expected in zip(lines(tmp_path / "run"), lines(tmp_path / "one"), strict=True):
        if line["kind"] == "train":
            assert line["loss"] == pytest.approx(expected["loss"], rel=0.01)


def test_an_error_on_one_rank_is_reported_by_the_first(tmp_path: Path) -> None:
    assert together(3, go_and_fail, toy_recipe(), tmp_path / "run") == [1, 1, 1]
    assert messages(tmp_path) == "Rank 1: The disk has a hole.\n"


@pytest.mark.soak
@pytest.mark.parametrize("between", [True, False], ids=["between updates", "in an update"])
def test_a_rank_that_is_killed_ends_the_others(between: bool, tmp_path: Path) -> None:
    assert together(2, go_and_be_killed, toy_recipe(), tmp_path / "run", between) == [1, -signal.SIGKILL]
    assert re.fullmatch(r"A process of this run has exited: .* continue with --resume\.\n", messages(tmp_path))
    assert metadata(tmp_path / "run" / "training.safetensors")["progress"]["update"] == 5


def test_ranks_with_different_text_are_refused(tmp_path: Path) -> None:
    recipe = corpus_recipe(tmp_path)
    assert together(2, go_on_other_text, recipe, tmp_path / "run") == [1, 1]
    assert re.fullmatch(r"Rank 1: The training text here is not that of rank 0 \(.*\n", messages(tmp_path))
