"""Runs are read while they run, also if their files are damaged."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from app.library.runs import MOST_BYTES, Phase, holder, phase_of, read_curves, read_run
from app.library.snapshots import own_run_names, runs_folder
from app.views.training.run_words import run_status
from tests.support.drawn import components
from tests.support.held_run import held
from tests.support.small_training import toy_recipe
from transformer.errors import TrainingError
from transformer.training import train
from transformer.training import trainer as trainer_module
from transformer.training.metrics import read_metrics
from transformer.training.run_folder import Run
from transformer.training.run_report import app_of


@pytest.fixture
def trainer(toy_run: Path) -> Iterator["subprocess.Popen[bytes]"]:
    """A process that holds the lock of the run as a trainer does."""
    with held(toy_run) as process:
        yield process


def test_a_finished_run_is_marked_and_one_with_more_updates_to_make_is_not(toy_run: Path, runs: Path) -> None:
    run = read_run("toy")
    assert run is not None
    assert (run.state, run.update, run.updates, run.ours) == ("finished", 12, 12, False)
    assert run.recipe is not None
    started_with = toy_recipe(best_by="loss", log_every=2, snapshots=(0, 3, 6, 12))
    assert run.recipe == replace(started_with, model=run.recipe.model)
    train(toy_recipe(best_by="loss", updates=14), toy_run, resume=True, device="cpu")
    (toy_run / "average.safetensors").unlink()
    resumed = read_run("toy")
    assert resumed is not None
    assert (resumed.state, resumed.update) == ("stopped", 14)


def test_curves_are_what_the_metrics_file_holds(toy_run: Path) -> None:
    lines = read_metrics(toy_run / "metrics.jsonl")
    curves = read_curves(toy_run)
    for kind, name in (("train", "loss"), ("train", "rate"), ("train", "gradient_norm"), ("valid", "bleu")):
        expected = [(line["update"], line[name]) for line in lines if line["kind"] == kind]
        assert list(zip(*(each.tolist() for each in curves[kind, name]), strict=True)) == expected
    assert ("valid", "bleu_signature") not in curves


def test_a_line_that_is_half_written_or_impossible_is_left_out(toy_run: Path) -> None:
    good = {"update": 3, "kind": "train", "loss": 2.5}
    bad = [
        *({**good, "update": update} for update in (-1, 2.0, True, "3", None, 2**60)),
        {**good, "kind": "x"}, {**good, "kind": ["train"]}, [1, 2], 7, "train", None, {},
    ]  # fmt: skip
    invalid = ['{"update": 4, "kind": "train", "loss": NaN}', '{"update": 5, "kind": "train", "loss": 1e999}']
    invalid += ['{"update": 6, "kind": "train", "loss": "2"}', '{"update": 7, "kind": "train", "loss": true}']
    invalid += ['{"update": 7, "kind": "train", "\\ud800": 1}']
    invalid += [
        "[" * 100_000,
        '{"update": 8, "kind": "train", "loss": ' + "9" * 5000 + "}",
        '{"update": 9, "kind": "tra',
    ]
    (toy_run / "metrics.jsonl").write_text("\n".join([json.dumps(good), *map(json.dumps, bad), *invalid]))
    updates, values = read_curves(toy_run)["train", "loss"]
    assert (updates.tolist(), values.tolist()) == ([3], [2.5])
    assert list(read_curves(toy_run)) == [("train", "loss")]
    (toy_run / "metrics.jsonl").write_bytes(b"\xff\xfe\x00" * 1000)
    assert read_curves(toy_run) == {}


def test_only_the_end_of_a_huge_file_is_read(toy_run: Path) -> None:
    line = json.dumps({"update": 1, "kind": "train", "loss": 9.0, "fill": "x" * 1000}) + "\n"
    last = json.dumps({"update": 2, "kind": "train", "loss": 1.0}) + "\n"
    (toy_run / "metrics.jsonl").write_text(
        json.dumps({"update": 0, "kind": "train", "loss": 5.0}) + "\n" + line * (MOST_BYTES // len(line) + 1) + last
    )
    updates, _ = read_curves(toy_run)["train", "loss"]
    assert updates.tolist() == [1, 2]


def test_a_run_is_running_as_long_as_a_process_holds_its_lock(
    toy_run: Path, trainer: "subprocess.Popen[bytes]"
) -> None:
    assert holder(toy_run) == trainer.pid
    run = read_run("toy")
    assert run is not None
    assert run.state == "running"
    trainer.kill()
    trainer.wait()
    assert holder(toy_run) is None
    again = read_run("toy")
    assert again is not None
    assert again.state == "finished"


@pytest.mark.parametrize(
    ("update", "validated", "phase"),
    [
        (0, 0, "updating"),
        (4, 0, "updating"),
        (5, 0, "validating"),  # it validates after every fifth update
        (5, 5, "updating"),
        (8, 5, "updating"),
        (12, 10, "validating"),  # and after the last
        (12, 12, "averaging"),
    ],
)
def test_a_run_is_known_to_validate_and_to_average_by_what_it_has_written(
    toy_run: Path, update: int, validated: int, phase: Phase
) -> None:
    run = read_run("toy")
    assert run is not None
    lines = [{"update": update, "kind": "train", "loss": 1.0}, {"update": validated, "kind": "valid", "loss": 1.0}]
    (toy_run / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines if line["update"]))
    assert phase_of(replace(run, update=update)) == phase


def test_a_run_that_was_ended_by_patience_is_known_to_average_and_says_why_it_ended(runs: Path) -> None:
    """It has not made all its updates; the state that it saves before it averages says that it is finished."""
    recipe = toy_recipe(updates=100, validate_every=2, patience=3, peak_rate=1e-30, average_last=1)
    train(recipe, runs / "toy", device="cpu")
    run = read_run("toy")
    assert run is not None
    assert (run.update, run.updates) == (10, 100)
    assert run_status(run, busy=False, stopping=False).startswith(
        "Finished after update 10 of 100 (no better score in 3 validations), best BLEU"
    )
    assert phase_of(run) == "averaging"
    assert phase_of(replace(run, update=9)) == "updating"


def test_a_run_is_preparing_after_it_has_locked_its_folder_and_before_it_writes_metrics(toy_run: Path) -> None:
    run = read_run("toy")
    assert run is not None
    assert phase_of(run) == "averaging"
    taken = (toy_run / "metrics.jsonl").stat().st_mtime_ns + 10**9
    os.utime(toy_run / ".lock", ns=(taken, taken))
    assert phase_of(run) == "preparing"  # to be resumed
    os.utime(toy_run / "metrics.jsonl", ns=(taken, taken))
    assert phase_of(run) == "averaging"
    (toy_run / "metrics.jsonl").unlink()
    assert phase_of(run) == "preparing"  # for the first time


def test_a_run_of_the_command_line_is_listed_and_opened_while_it_prepares_its_text(
    runs: Path, open_app: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[list[str], str, str]] = []

    def load_text(*_: object) -> None:
        app = open_app("training")
        status = next(text.value for text in app.text if text.value.startswith("Running"))
        (picture,) = components(app, "time_machine")
        seen.append((own_run_names(), status, picture["news"]))
        raise TrainingError("The text cannot be read.")

    monkeypatch.setattr(trainer_module, "load_text", load_text)
    with pytest.raises(TrainingError, match="cannot be read"):
        train(toy_recipe(), runs / "new", device="cpu")
    says = "preparing its text and its model"
    assert seen == [(["new"], f"Running: {says}", f"In training: {says}")]
    run = read_run("new")
    assert run is not None
    assert (run.state, run.update) == ("stopped", 0)


def test_the_trainer_knows_which_folder_of_runs_the_app_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    assert app_of(runs_folder() / "new") == f"the app, started with HEADLIGHT_RUNS={runs_folder()}"
    monkeypatch.delenv("HEADLIGHT_RUNS")
    assert app_of(runs_folder() / "new") == "the app"


def test_the_trainer_writes_its_process_id_into_the_lock_and_a_second_one_does_not(toy_run: Path) -> None:
    with Run(toy_run, resume=True):
        assert holder(toy_run) == os.getpid()
        with pytest.raises(TrainingError, match="Another process is training"), Run(toy_run, resume=True):
            pass
        assert holder(toy_run) == os.getpid()
    assert holder(toy_run) is None


def test_reading_a_run_does_not_prevent_it_from_starting(toy_run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The lock of a run whose process has ended, or has not begun, is not touched."""
    touched: list[object] = []
    monkeypatch.setattr("app.library.runs.fcntl.flock", lambda *arguments: touched.append(arguments))
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    for text in ("", str(ended.pid), "0", "1", "-5", "9" * 30, "x"):
        (toy_run / ".lock").write_text(text)
        assert holder(toy_run) is None
    (toy_run / ".lock").unlink()
    assert holder(toy_run) is None
    assert touched == []


def test_a_run_with_an_invalid_state_still_has_its_curves(toy_run: Path) -> None:
    (toy_run / "training.safetensors").write_bytes(b"nothing of the kind")
    run = read_run("toy")
    assert run is not None
    assert (run.recipe, run.update) == (None, 0)
    assert np.isfinite(read_curves(toy_run)["train", "loss"][1]).all()
