"""Several ranks stop together, and another number of ranks can resume their run."""

import os
import re
import signal
from pathlib import Path

import pytest

from tests.support.ranks import EXACT, assert_same_but_for_rounding, exact, go, messages, together
from tests.support.small_training import metadata, stop_after, toy_recipe
from transformer.config import Recipe
from transformer.data import training_data
from transformer.errors import TrainingError
from transformer.training import train


def go_where_others_do_not_see_the_folder(rank: int, recipe: Recipe, run: Path, resume: bool = False) -> None:
    """As on another machine."""
    go(rank, recipe, run.with_name(f"elsewhere-{rank}") if rank else run, resume)


def go_and_be_told_to_stop(rank: int, recipe: Recipe, run: Path, told: int, update: int) -> None:
    """Only one rank gets the signal."""
    with pytest.MonkeyPatch.context() as patch:
        if rank == told:
            stop_after(update, patch)
        go(rank, recipe, run)


def go_and_be_told_at_once(rank: int, recipe: Recipe, run: Path, told: list[int]) -> None:
    """A signal while the text is being prepared."""
    with pytest.MonkeyPatch.context() as patch:
        if rank in told:
            patch.setattr(training_data, "find_tokenizer", lambda *arguments: os.kill(os.getpid(), signal.SIGTERM))
        go(rank, recipe, run)


@pytest.mark.parametrize("told", [pytest.param(0, marks=pytest.mark.soak), 1])
def test_a_signal_to_any_rank_stops_all_and_one_rank_can_resume(told: int, tmp_path: Path) -> None:
    recipe = exact(toy_recipe(**EXACT))
    run = tmp_path / "run"
    assert together(2, go_and_be_told_to_stop, recipe, run, told, 5) == [1, 1]
    stopped = 5 + told  # the others hear of it when they meet before the next one
    assert re.fullmatch(rf"Stopped by SIGTERM after update {stopped} of 12; .* --resume .*\n", messages(tmp_path))
    assert metadata(run / "training.safetensors")["progress"]["update"] == stopped
    train(recipe, run, resume=True, device="cpu")
    train(recipe, tmp_path / "alone", device="cpu")
    assert_same_but_for_rounding(run, tmp_path / "alone")


@pytest.mark.parametrize("told", [pytest.param([0, 1], marks=pytest.mark.soak), [1]], ids=["all", "one"])
def test_a_signal_before_training_begins_ends_all(told: list[int], tmp_path: Path) -> None:
    assert together(2, go_and_be_told_at_once, toy_recipe(), tmp_path / "run", told) == [1, 1]
    assert re.fullmatch(
        r"(Rank 1: )?Stopped by SIGTERM before training started\. Give the same .*\n", messages(tmp_path)
    )


@pytest.mark.soak
def test_two_ranks_resume_a_run_of_one_though_the_second_does_not_see_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = exact(toy_recipe(**EXACT))
    run = tmp_path / "run"
    stop_after(6, monkeypatch)
    with pytest.raises(TrainingError, match="Stopped by SIGTERM after update 6"):
        train(recipe, run, device="cpu")
    monkeypatch.undo()
    assert together(2, go_where_others_do_not_see_the_folder, recipe, run, True) == [0, 0]
    train(recipe, tmp_path / "alone", device="cpu")
    assert_same_but_for_rounding(run, tmp_path / "alone")
    assert [path.name for path in (tmp_path / "elsewhere-1").iterdir()] == ["tokenizer.model"]
