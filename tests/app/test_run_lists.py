"""Lists of runs and of their snapshots: the reader's own and those that ship, and folders that are not runs."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from app.library.runs import read_curves, read_run
from app.library.snapshots import (
    SHIPPED,
    own_run_names,
    run_names,
    snapshot,
    snapshot_name,
    snapshots,
)


@pytest.fixture
def shipped(finished_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run that ships: only metrics and snapshots."""
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(tmp_path / "pretrained"))
    folder = tmp_path / "pretrained" / SHIPPED / "shipped toy"
    shutil.copytree(finished_run / "snapshots", folder / "snapshots")
    shutil.copy(finished_run / "metrics.jsonl", folder)
    return folder.resolve()


def test_a_folder_of_prepared_text_is_not_a_run(runs: Path) -> None:
    for name, file in (("prepared", ".lock"), ("plans", "recipe.toml")):
        (runs / name).mkdir(parents=True)
        (runs / name / file).touch()
    assert own_run_names() == []


@pytest.mark.parametrize("name", ["", "..", ".", "/etc", "toy/../toy", "toy/snapshots", "none", "\0"])
def test_a_name_from_an_address_is_never_a_path(toy_run: Path, name: str) -> None:
    assert read_run(name) is None
    assert snapshot(snapshot_name(name, 0)) is None


def test_snapshots_are_found_by_update_and_other_files_are_ignored(toy_run: Path) -> None:
    (toy_run / "snapshots" / "notes.txt").write_text("x")
    (toy_run / "snapshots" / ".00000009.safetensors.1.tmp").write_text("x")
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
    (shipped / "snapshots" / "00000012.safetensors").write_bytes(b"nothing of the kind")
    damaged = read_run("shipped toy")
    assert damaged is not None
    assert (damaged.recipe, damaged.state) == (None, "stopped")


def test_the_readers_own_runs_come_before_those_that_ship(shipped: Path, toy_run: Path, runs: Path) -> None:
    assert run_names() == ["toy", "shipped toy"]
    (runs / "shipped toy").mkdir()
    (runs / "shipped toy" / "metrics.jsonl").write_text("")
    assert sorted(run_names()) == ["shipped toy", "toy"]
    own = read_run("shipped toy")
    assert own is not None
    assert own.folder == runs / "shipped toy"  # it takes the place of the shipped one


def test_runs_are_listed_the_newest_first_and_other_folders_are_not(
    toy_run: Path, runs: Path, monkeypatch: pytest.MonkeyPatch
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
    toy_run: Path, runs: Path, open_app: Callable[..., AppTest]
) -> None:
    os.rename(os.fsencode(shutil.copytree(toy_run, runs / "other")), os.fsencode(runs) + b"/caf\xe9")
    assert run_names() == ["toy"]
    app = open_app("training", details="true")
    assert not app.exception
    assert [line.value for line in app.text if "Not listed" in line.value] == [
        "Not listed, because the folder name is not valid UTF-8: caf\\xe9. Rename it to see it."
    ]
