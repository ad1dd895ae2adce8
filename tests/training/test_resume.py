"""A run that was stopped, or killed, at any moment and resumed ends in the same bits as one that was left alone.

With everything random switched on: dropout in all places, words cut anew in each epoch, several batches an update.
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

from tests.training.small import (
    MODEL,
    assert_same_run,
    corpus_recipe,
    in_new_process,
    lines,
    metadata,
    stop_after,
    tensors,
    toy_recipe,
    write_pairs,
)
from transformer import averaging
from transformer.config import Recipe
from transformer.errors import TrainingError
from transformer.text.toy import toy_pairs
from transformer.training import report, state, train, trainer, validation
from transformer.training import run as run_module
from transformer.training.metrics import Metrics, read_metrics

Runs = tuple[Recipe, Path]


@pytest.fixture(scope="module")
def left_alone(tmp_path_factory: pytest.TempPathFactory) -> Runs:
    """The recipe, and the folder of its run that nobody disturbed."""
    folder = tmp_path_factory.mktemp("resume")
    recipe = corpus_recipe(folder, updates=10, accumulate=2, log_every=3, validate_every=4, save_every=3)
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
    "an update": (trainer, "one_update"),
    "writing the state": (state, "save_file"),
    "the newest checkpoint is written, the state not yet": (run_module, "save_state"),
    "validation": (trainer, "validate"),
    "the snapshot is written, the best checkpoint not yet": (run_module.Run, "checkpoint"),
    "metrics are written, the validation is not yet saved": (report.Report, "validation"),
    "averaging": (run_module, "average_checkpoints"),
}


def finish(process: Any) -> int:
    process.join(timeout=120)
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
        ("the vocabulary has been learnt", 1),
        ("an update", 8),
        ("writing the state", 3),
        ("the newest checkpoint is written, the state not yet", 3),
        ("metrics are written, the validation is not yet saved", 2),
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
    until = time.monotonic() + 120
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


# Going on


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


def test_a_finished_run_goes_on_if_it_is_given_more_updates(tmp_path: Path) -> None:
    recipe = toy_recipe(updates=6, schedule="constant", log_every=1)
    train(recipe, tmp_path / "parts", device="cpu")
    longer = toy_recipe(updates=11, schedule="constant", log_every=1)
    train(longer, tmp_path / "parts", resume=True, device="cpu")
    train(longer, tmp_path / "whole", device="cpu")
    parts, whole = (tensors(tmp_path / name / "training.safetensors") for name in ("parts", "whole"))
    assert all(torch.equal(tensor, parts[name]) for name, tensor in whole.items())
    assert [line["update"] for line in lines(tmp_path / "parts") if line["kind"] == "train"] == list(range(1, 12))


def test_a_signal_during_validation_or_averaging_stops_at_once_and_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = toy_recipe(updates=6)
    look = validation.validate

    def validate(*arguments: Any) -> Any:
        os.kill(os.getpid(), signal.SIGTERM)
        return look(*arguments)

    monkeypatch.setattr(trainer, "validate", validate)
    for number, updates in enumerate((5, 5)):  # and again: it is due at once
        with pytest.raises(TrainingError, match=rf"Stopped by SIGTERM after update {updates} of 6.*--resume"):
            train(recipe, tmp_path / "run", resume=number > 0, device="cpu")
        assert not [line for line in lines(tmp_path / "run") if line["kind"] == "valid"]
    monkeypatch.undo()
    average = averaging.average_checkpoints

    def average_checkpoints(*arguments: Any) -> None:
        average(*arguments)
        os.kill(os.getpid(), signal.SIGTERM)

    monkeypatch.setattr(run_module, "average_checkpoints", average_checkpoints)
    with pytest.raises(TrainingError, match="Stopped by SIGTERM after update 6 of 6"):
        train(recipe, tmp_path / "run", resume=True, device="cpu")
    monkeypatch.undo()
    train(recipe, tmp_path / "run", resume=True, device="cpu")
    train(recipe, tmp_path / "alone", device="cpu")
    assert_same_run(tmp_path / "run", tmp_path / "alone")


def test_signals_are_what_they_were_after_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)
    stop_after(1, monkeypatch, signal.SIGINT)
    with pytest.raises(TrainingError, match="SIGINT"):
        train(toy_recipe(), tmp_path, device="cpu")
    assert (signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)) == before


# Refusals


@pytest.fixture
def stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Runs:
    """A run on a corpus, stopped in the middle."""
    recipe = corpus_recipe(tmp_path, updates=6)
    stop_after(2, monkeypatch)
    with pytest.raises(TrainingError):
        train(recipe, tmp_path / "run", device="cpu")
    monkeypatch.undo()
    return recipe, tmp_path / "run"


def test_resuming_with_other_settings_is_refused_with_the_list_of_them(stopped: Runs) -> None:
    recipe, run = stopped
    before = (run / "training.safetensors").read_bytes()
    other = replace(
        recipe,
        name="renamed",  # this and log_every may change
        model=replace(recipe.model, dropout=0.4),
        training=replace(recipe.training, warmup=5, log_every=1),
    )
    with pytest.raises(TrainingError) as caught:
        train(other, run, resume=True, device="cpu")
    listed = [line.strip() for line in str(caught.value).splitlines() if line.startswith("  ")]
    assert listed == ["model.dropout: 0.1 then, 0.4 now", "training.warmup: 4 then, 5 now"]
    assert (run / "training.safetensors").read_bytes() == before


def test_resuming_on_a_changed_corpus_is_refused(stopped: Runs) -> None:
    recipe, run = stopped
    write_pairs(Path(recipe.data.train[0]), toy_pairs("numbers", 2, 150))
    with pytest.raises(TrainingError, match=r"training text is not what the run in .* was started with"):
        train(recipe, run, resume=True, device="cpu")


def test_the_corpus_may_have_moved_meanwhile(stopped: Runs, tmp_path: Path) -> None:
    recipe, run = stopped
    moved = Path(recipe.data.train[0]).rename(tmp_path / "moved.tsv")
    train(replace(recipe, data=replace(recipe.data, train=(str(moved),))), run, resume=True, device="cpu")
    assert metadata(run / "training.safetensors")["progress"]["update"] == 6


def test_an_option_that_a_run_did_not_know_of_counts_as_its_default(stopped: Runs) -> None:
    """States written by older versions of Headlight stay good."""
    recipe, run = stopped
    _, known = state.read_progress(run / "training.safetensors")
    recipe = replace(recipe, model=replace(recipe.model, vocab_size=known["model"]["vocab_size"]))
    del known["model"]["activation"], known["training"]["cooldown"]
    assert run_module._differences(known, recipe) == []
    changed = replace(recipe, training=replace(recipe.training, cooldown=0.5))
    assert run_module._differences(known, changed) == ["training.cooldown: 0.0 then, 0.5 now"]


@pytest.mark.parametrize("damage", ["cut", "emptied", "something else"])
def test_a_damaged_state_is_refused_in_a_sentence(damage: str, stopped: Runs) -> None:
    recipe, run = stopped
    file = run / "training.safetensors"
    if damage == "something else":
        file.write_bytes((run / "last.safetensors").read_bytes())
    else:
        os.truncate(file, 0 if damage == "emptied" else file.stat().st_size // 2)
    with pytest.raises(TrainingError, match="is not the state of a training run"):
        train(recipe, run, resume=True, device="cpu")


def test_temporary_files_of_a_killed_run_are_ignored_and_removed(stopped: Runs) -> None:
    recipe, run = stopped
    torn = [run / ".training.safetensors.123.tmp", run / "snapshots" / ".00000002.safetensors.123.tmp"]
    torn[1].parent.mkdir(exist_ok=True)
    for path in torn:
        path.write_bytes(b"half a fi")
    train(recipe, run, resume=True, device="cpu")
    assert not any(path.exists() for path in torn)


def test_metrics_after_the_last_save_are_dropped_and_a_torn_line_is_too(tmp_path: Path) -> None:
    metrics = Metrics(tmp_path)
    for update in (5, 10, 15):
        metrics.write(update, "train", {"loss": 1.0})
        metrics.write(update, "valid", {"bleu": 2.0})
    metrics.close()
    with (tmp_path / "metrics.jsonl").open("a") as file:
        file.write('{"update": 20, "ki')
    Metrics(tmp_path, update=10, validated=5).close()  # killed after the state of update 10, before its validation
    assert [(line["update"], line["kind"]) for line in lines(tmp_path)] == [(5, "train"), (5, "valid"), (10, "train")]
