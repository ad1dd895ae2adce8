"""Runs are read while they run, also if their files are damaged."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from app.library.runs import MOST_BYTES, Phase, holder, phase_of, read_curves, read_run
from app.library.snapshots import (
    SHIPPED,
    SHIPPED_SNAPSHOTS,
    own_run_names,
    run_names,
    runs_folder,
    snapshot,
    snapshot_name,
    snapshots,
)
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
def toy(finished_run: Path, runs: Path) -> Path:
    """A copy of the finished run in the folder of runs."""
    return Path(shutil.copytree(finished_run, runs / "toy"))


@pytest.fixture
def shipped(finished_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run that ships: only metrics and snapshots."""
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(tmp_path / "pretrained"))
    folder = tmp_path / "pretrained" / SHIPPED / "shipped toy"
    shutil.copytree(finished_run / "snapshots", folder / SHIPPED_SNAPSHOTS)
    shutil.copy(finished_run / "metrics.jsonl", folder)
    return folder.resolve()


@pytest.fixture
def trainer(toy: Path) -> Iterator["subprocess.Popen[bytes]"]:
    """A process that holds the lock of the run as a trainer does."""
    with held(toy) as process:
        yield process


def test_a_finished_run_is_marked_and_one_with_more_updates_to_make_is_not(toy: Path, runs: Path) -> None:
    run = read_run("toy")
    assert run is not None
    assert (run.state, run.update, run.updates, run.ours) == ("finished", 12, 12, False)
    assert run.recipe is not None
    started_with = toy_recipe(best_by="loss", log_every=2, snapshots=(0, 3, 6, 12))
    assert run.recipe == replace(started_with, model=run.recipe.model)
    train(toy_recipe(best_by="loss", updates=14), toy, resume=True, device="cpu")
    (toy / "average.safetensors").unlink()
    resumed = read_run("toy")
    assert resumed is not None
    assert (resumed.state, resumed.update) == ("stopped", 14)


def test_curves_are_what_the_metrics_file_holds(toy: Path) -> None:
    lines = read_metrics(toy / "metrics.jsonl")
    curves = read_curves(toy)
    for kind, name in (("train", "loss"), ("train", "rate"), ("train", "gradient_norm"), ("valid", "bleu")):
        expected = [(line["update"], line[name]) for line in lines if line["kind"] == kind]
        assert list(zip(*(each.tolist() for each in curves[kind, name]), strict=True)) == expected
    assert ("valid", "bleu_signature") not in curves


def test_a_line_that_is_half_written_or_impossible_is_left_out(toy: Path) -> None:
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
    (toy / "metrics.jsonl").write_text("\n".join([json.dumps(good), *map(json.dumps, bad), *invalid]))
    updates, values = read_curves(toy)["train", "loss"]
    assert (updates.tolist(), values.tolist()) == ([3], [2.5])
    assert list(read_curves(toy)) == [("train", "loss")]
    (toy / "metrics.jsonl").write_bytes(b"\xff\xfe\x00" * 1000)
    assert read_curves(toy) == {}


def test_only_the_end_of_a_huge_file_is_read(toy: Path) -> None:
    line = json.dumps({"update": 1, "kind": "train", "loss": 9.0, "fill": "x" * 1000}) + "\n"
    last = json.dumps({"update": 2, "kind": "train", "loss": 1.0}) + "\n"
    (toy / "metrics.jsonl").write_text(
        json.dumps({"update": 0, "kind": "train", "loss": 5.0}) + "\n" + line * (MOST_BYTES // len(line) + 1) + last
    )
    updates, _ = read_curves(toy)["train", "loss"]
    assert updates.tolist() == [1, 2]


def test_a_run_is_running_as_long_as_a_process_holds_its_lock(toy: Path, trainer: "subprocess.Popen[bytes]") -> None:
    assert holder(toy) == trainer.pid
    run = read_run("toy")
    assert run is not None
    assert run.state == "running"
    trainer.kill()
    trainer.wait()
    assert holder(toy) is None
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
    toy: Path, update: int, validated: int, phase: Phase
) -> None:
    run = read_run("toy")
    assert run is not None
    lines = [{"update": update, "kind": "train", "loss": 1.0}, {"update": validated, "kind": "valid", "loss": 1.0}]
    (toy / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines if line["update"]))
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


def test_a_run_is_preparing_after_it_has_locked_its_folder_and_before_it_writes_metrics(toy: Path) -> None:
    run = read_run("toy")
    assert run is not None
    assert phase_of(run) == "averaging"
    taken = (toy / "metrics.jsonl").stat().st_mtime_ns + 10**9
    os.utime(toy / ".lock", ns=(taken, taken))
    assert phase_of(run) == "preparing"  # to be resumed
    os.utime(toy / "metrics.jsonl", ns=(taken, taken))
    assert phase_of(run) == "averaging"
    (toy / "metrics.jsonl").unlink()
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


def test_a_folder_of_prepared_text_is_not_a_run(runs: Path) -> None:
    for name, file in (("prepared", ".lock"), ("plans", "recipe.toml")):
        (runs / name).mkdir(parents=True)
        (runs / name / file).touch()
    assert own_run_names() == []


def test_the_trainer_knows_which_folder_of_runs_the_app_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    assert app_of(runs_folder() / "new") == f"the app, started with HEADLIGHT_RUNS={runs_folder()}"
    monkeypatch.delenv("HEADLIGHT_RUNS")
    assert app_of(runs_folder() / "new") == "the app"


def test_the_trainer_writes_its_process_id_into_the_lock_and_a_second_one_does_not(toy: Path) -> None:
    with Run(toy, resume=True):
        assert holder(toy) == os.getpid()
        with pytest.raises(TrainingError, match="Another process is training"), Run(toy, resume=True):
            pass
        assert holder(toy) == os.getpid()
    assert holder(toy) is None


def test_reading_a_run_does_not_prevent_it_from_starting(toy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The lock of a run whose process has ended, or has not begun, is not touched."""
    touched: list[object] = []
    monkeypatch.setattr("app.library.runs.fcntl.flock", lambda *arguments: touched.append(arguments))
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    for text in ("", str(ended.pid), "0", "1", "-5", "9" * 30, "x"):
        (toy / ".lock").write_text(text)
        assert holder(toy) is None
    (toy / ".lock").unlink()
    assert holder(toy) is None
    assert touched == []


@pytest.mark.parametrize("name", ["", "..", ".", "/etc", "toy/../toy", "toy/snapshots", "none", "\0"])
def test_a_name_from_an_address_is_never_a_path(toy: Path, name: str) -> None:
    assert read_run(name) is None
    assert snapshot(snapshot_name(name, 0)) is None


def test_snapshots_are_found_by_update_and_other_files_are_ignored(toy: Path) -> None:
    (toy / "snapshots" / "notes.txt").write_text("x")
    (toy / "snapshots" / ".00000009.safetensors.1.tmp").write_text("x")
    found = snapshots("toy")
    assert list(found) == [0, 3, 6, 12]
    assert snapshot("toy, update 3") == found[3]
    assert snapshot("toy, update 4") is None
    assert snapshot("toy, update ٣") is None


def test_a_run_that_ships_is_a_finished_run_like_any_other(shipped: Path) -> None:
    assert run_names() == ["shipped toy"]
    run = read_run("shipped toy")
    assert run is not None
    assert (run.folder, run.state, run.update, run.updates, run.ours) == (shipped, "finished", 12, 12, False)
    assert run.recipe is not None
    assert run.recipe.data.toy == "reverse"  # so the page knows the right answer
    assert list(snapshots("shipped toy")) == [0, 3, 6, 12]
    assert snapshot("shipped toy, update 3") is not None
    assert ("train", "loss") in read_curves(run.folder)
    (shipped / SHIPPED_SNAPSHOTS / "00000012.safetensors").write_bytes(b"nothing of the kind")
    damaged = read_run("shipped toy")
    assert damaged is not None
    assert (damaged.recipe, damaged.state) == (None, "stopped")


def test_the_readers_own_runs_come_before_those_that_ship(shipped: Path, toy: Path, runs: Path) -> None:
    assert run_names() == ["toy", "shipped toy"]
    (runs / "shipped toy").mkdir()
    (runs / "shipped toy" / "metrics.jsonl").write_text("")
    assert sorted(run_names()) == ["shipped toy", "toy"]
    own = read_run("shipped toy")
    assert own is not None
    assert own.folder == runs / "shipped toy"  # it takes the place of the shipped one


def test_runs_are_listed_the_newest_first_and_other_folders_are_not(
    toy: Path, runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(runs / "none"))
    (runs / "no run").mkdir()
    (runs / "file").write_text("")
    (runs / "<b>second").mkdir()
    (runs / "<b>second" / "metrics.jsonl").write_text("")
    os.utime(runs / "<b>second" / "metrics.jsonl", (2e9, 2e9))
    assert run_names() == ["<b>second", "toy"]
    second = read_run("<b>second")
    assert second is not None
    assert (second.state, second.update, second.recipe) == ("stopped", 0, None)


def test_a_run_whose_name_is_not_utf_8_is_left_out_and_the_page_says_so(
    toy: Path, runs: Path, open_app: Callable[..., AppTest]
) -> None:
    os.rename(os.fsencode(shutil.copytree(toy, runs / "other")), os.fsencode(runs) + b"/caf\xe9")
    assert run_names() == ["toy"]
    app = open_app("training", details="true")
    assert not app.exception
    assert [line.value for line in app.text if "Not listed" in line.value] == [
        "Not listed, because the folder name is not valid UTF-8: caf\\xe9. Rename it to see it."
    ]


def test_a_run_with_an_invalid_state_still_has_its_curves(toy: Path) -> None:
    (toy / "training.safetensors").write_bytes(b"nothing of the kind")
    run = read_run("toy")
    assert run is not None
    assert (run.recipe, run.update) == (None, 0)
    assert np.isfinite(read_curves(toy)["train", "loss"][1]).all()
