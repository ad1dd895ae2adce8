"""A run that was stopped, or killed, at any moment and resumed ends in the same bits as one that was left alone.

With everything random switched on: dropout in all places, words split again in each epoch, several batches per update.
"""

import math
import os
import random
import signal
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.support.patience import PATIENCE
from tests.support.small_training import (
    MODEL,
    assert_same_run,
    corpus_recipe,
    in_new_process,
    metadata,
    stop_after,
    tensors,
    toy_recipe,
)
from transformer.checkpoint.checkpoint_file import load_checkpoint
from transformer.config import Recipe
from transformer.errors import Stopped, TrainingError
from transformer.training import run_folder as run_module
from transformer.training import run_report, train, trainer, training_state
from transformer.training import training as training_module
from transformer.training.metrics import read_metrics

Runs = tuple[Recipe, Path]


@pytest.fixture(scope="module")
def left_alone(tmp_path_factory: pytest.TempPathFactory) -> Runs:
    """The recipe, and the folder of its run that nobody disturbed."""
    folder = tmp_path_factory.mktemp("resume")
    recipe = corpus_recipe(
        folder, updates=10, accumulate=2, log_every=3, validate_every=4, save_every=3, snapshots=(0, 4, 7)
    )
    model = replace(MODEL, dropout=0.2, embedding_dropout=0.1, attention_dropout=0.1, activation_dropout=0.1)
    recipe = replace(recipe, model=model)
    process = in_new_process(go, recipe, folder / "alone")
    process.join()
    assert process.exitcode == 0
    return recipe, folder / "alone"


# What runs in processes of their own


def go(recipe: Recipe, run: Path, resume: bool = False) -> None:
    train(recipe, run, resume=resume, device="cpu")


def go_and_be_stopped(recipe: Recipe, run: Path, update: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        stop_after(update, patch)
        with pytest.raises(TrainingError, match="Stopped by SIGTERM"):
            train(recipe, run, device="cpu")


def go_and_die(recipe: Recipe, run: Path, place: str, times: int, resume: bool = False) -> None:
    """SIGKILLs itself the n-th time that it comes to a place; in writing a file, after half of it."""
    module, name = PLACES[place]
    target = getattr(module, name)

    def deadly(*arguments: Any, **options: Any) -> Any:
        deadly.calls += 1  # type: ignore[attr-defined]
        if deadly.calls < times:  # type: ignore[attr-defined]
            return target(*arguments, **options)
        if name == "save_file":
            target(*arguments, **options)
            os.truncate(arguments[1], os.path.getsize(arguments[1]) // 2)
        os.kill(os.getpid(), signal.SIGKILL)
        return None

    deadly.calls = 0  # type: ignore[attr-defined]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, name, deadly)
        train(recipe, run, resume=resume, device="cpu")


PLACES: dict[str, tuple[Any, str]] = {
    "the vocabulary has been learnt": (trainer, "fit_vocabulary"),
    "an update": (training_module.Training, "update"),
    "writing the state": (training_state, "save_file"),
    "the newest checkpoint is written, the state not yet": (run_module, "save_state"),
    "validation": (training_module, "validate"),
    "the snapshot is written, the best checkpoint not yet": (run_module.Run, "checkpoint"),
    "metrics are written, the validation is not yet saved": (run_report.Report, "validation"),
    "averaging": (run_module, "average_checkpoints"),
}


def finish(process: Any) -> int:
    process.join(timeout=PATIENCE)
    assert process.exitcode is not None
    return int(process.exitcode)


# Stopped and killed


def test_a_stopped_run_ends_in_the_same_bits(left_alone: Runs, tmp_path: Path) -> None:
    recipe, alone = left_alone
    assert finish(in_new_process(go_and_be_stopped, recipe, tmp_path / "run", 5)) == 0
    assert metadata(tmp_path / "run" / "training.safetensors")["progress"]["update"] == 5
    assert finish(in_new_process(go, recipe, tmp_path / "run", True)) == 0
    assert_same_run(tmp_path / "run", alone)


@pytest.mark.parametrize(
    ("place", "times"),
    [
        pytest.param("the vocabulary has been learnt", 1, marks=pytest.mark.soak),
        pytest.param("an update", 8, marks=pytest.mark.soak),
        ("writing the state", 3),
        ("the newest checkpoint is written, the state not yet", 3),
        pytest.param("metrics are written, the validation is not yet saved", 2, marks=pytest.mark.soak),
        pytest.param("writing the state", 1, marks=pytest.mark.soak),
        pytest.param("validation", 2, marks=pytest.mark.soak),
        pytest.param("the snapshot is written, the best checkpoint not yet", 3, marks=pytest.mark.soak),
        pytest.param("averaging", 1, marks=pytest.mark.soak),
    ],
)
def test_a_killed_run_ends_in_the_same_bits(place: str, times: int, left_alone: Runs, tmp_path: Path) -> None:
    recipe, alone = left_alone
    assert finish(in_new_process(go_and_die, recipe, tmp_path / "run", place, times)) == -signal.SIGKILL
    assert finish(in_new_process(go, recipe, tmp_path / "run", True)) == 0
    assert_same_run(tmp_path / "run", alone)
    assert not list((tmp_path / "run").rglob("*.tmp"))


def kill_when(process: Any, due: Callable[[], bool]) -> bool:
    """SIGKILL from outside as soon as `due` says so. False if the process was done before."""
    until = time.monotonic() + PATIENCE
    while process.is_alive() and not due() and time.monotonic() < until:
        time.sleep(0.002)
    process.kill()
    process.join()
    return bool(process.exitcode == -signal.SIGKILL)


def test_a_run_killed_from_outside_ends_in_the_same_bits(left_alone: Runs, tmp_path: Path) -> None:
    recipe, alone = left_alone
    run = tmp_path / "run"
    for attempt, update in enumerate((3, 8)):
        process = in_new_process(go, recipe, run, attempt > 0)
        log = run / "metrics.jsonl"
        assert kill_when(process, lambda: any(int(line["update"]) >= update for line in read_metrics(log)))  # noqa: B023
    assert finish(in_new_process(go, recipe, run, True)) == 0
    assert_same_run(run, alone)


@pytest.mark.soak
def test_runs_killed_again_and_again_at_random_moments_end_in_the_same_bits(left_alone: Runs, tmp_path: Path) -> None:
    recipe, alone = left_alone
    rng = random.Random(41)
    usual = math.inf  # seconds that a run takes
    for attempt in range(3):
        began = time.monotonic()
        assert finish(in_new_process(go, recipe, tmp_path / f"timed-{attempt}")) == 0
        usual = min(usual, time.monotonic() - began)
    for number in range(20):
        run, kills = tmp_path / str(number), 0
        while True:
            process = in_new_process(go, recipe, run, run.is_dir())
            moment = time.monotonic() + rng.uniform(0.0, 1.1 * usual)
            if not kill_when(process, lambda: time.monotonic() > moment):  # noqa: B023
                break
            kills += 1
        print(f"run {number} survived {kills} kills")
        assert process.exitcode == 0
        assert_same_run(run, alone)


def test_a_run_may_be_ended_sooner_than_it_was_begun(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recipe = corpus_recipe(tmp_path, validate_every=100)
    stop_after(7, monkeypatch)
    with pytest.raises(Stopped):
        train(recipe, tmp_path / "run", device="cpu")
    monkeypatch.undo()
    shorter = replace(recipe, training=replace(recipe.training, updates=5))
    chosen = train(shorter, tmp_path / "run", resume=True, device="cpu")
    assert chosen == tmp_path / "run" / "average.safetensors"
    assert load_checkpoint(chosen).metrics["update"] == 7


def test_resuming_a_finished_run_changes_nothing(left_alone: Runs) -> None:
    recipe, alone = left_alone
    before = {path: tensors(path) for path in alone.rglob("*.safetensors")}
    progress, metrics = metadata(alone / "training.safetensors")["progress"], (alone / "metrics.jsonl").read_bytes()
    assert finish(in_new_process(go, recipe, alone, True)) == 0
    assert set(before) == set(alone.rglob("*.safetensors"))
    for path, given in before.items():
        assert all(torch.equal(tensor, given[name]) for name, tensor in tensors(path).items()), path
    assert metadata(alone / "training.safetensors")["progress"] == progress
    assert (alone / "metrics.jsonl").read_bytes() == metrics


def test_resuming_in_another_arithmetic_is_reported_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """On another machine, or with more threads, the bits cannot be those of a run that was left alone."""
    before = "float32 on cpu, threads: "
    for updates, threads, count in ((1, 1, 0), (2, 1, 0), (3, 40, 1), (4, 40, 1)):
        monkeypatch.setattr(torch, "get_num_threads", lambda: threads)  # noqa: B023
        train(toy_recipe(updates=updates), tmp_path / "run", resume=updates > 1, device="cpu")
        assert caplog.text.count(f"Computed in {before}1 until now, and from here on in {before}40: ") == count
