"""Runs that are started in the browser: the folder of their files, one at a time, stopped and resumed."""

import gzip
import json
import shutil
import signal
import subprocess
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from app.library.checkpoints import CheckpointFile
from app.views.training import launch_run, run_log, start_window
from app.views.training.own_text import first_pair, read_own_text
from app.views.training.run_log import LOG, RECIPE
from app.views.training.run_permission import LaunchError, is_allowed
from app.views.training.run_plan import Size, TextPlan, ToyPlan
from tests.app.test_run_plan import SIZE
from tests.support.app_checkpoints import write_checkpoint
from tests.support.patience import PATIENCE
from transformer.checkpoint.header import read_header
from transformer.config import Recipe
from transformer.errors import HeadlightError
from transformer.recipe import load_recipe


def until_ready(folder: Path, process: "subprocess.Popen[bytes]") -> None:
    while not (folder / "ready").exists():
        assert process.poll() is None
        time.sleep(0.01)
    (folder / "ready").unlink()


def test_uploaded_text_is_stored_in_the_folder_of_the_run_under_a_fixed_name(stub_trainer: Any, runs: Path) -> None:
    text = b"".join(b"the cat %d\tdie Katze %d\n" % (i, i) for i in range(50))
    name = launch_run.start(TextPlan(read_own_text("../x.tsv", text), "en", "de", SIZE))
    assert name == "en-de-1"
    assert (runs / name / "corpus.tsv").read_bytes() == text
    recipe = load_recipe(runs / name / RECIPE)
    assert recipe.data.train == (str(runs / name / "corpus.tsv"),)
    assert (recipe.name, recipe.data.valid_size, recipe.data.valid) == (name, 2, None)
    assert sorted(path.name for path in runs.iterdir()) == [name]


def test_packed_text_a_validation_file_and_a_checkpoint_to_start_with(
    stub_trainer: Any, runs: Path, finished_run: Path
) -> None:
    text = gzip.compress(b"".join(b"a b%s\tc d\n\t\n" % (b" %d" % n if n else b"") for n in range(30)))
    valid = read_own_text("v.tsv", b"a\tb\n", 1)
    start_from = CheckpointFile.at(finished_run / "best.safetensors")
    plan = TextPlan(read_own_text("x.tsv.gz", text), "gsw", "Middle Low German", SIZE, valid, start_from)
    assert plan.text.pairs == 30
    assert plan.text.first == ("a b", "c d")
    name = launch_run.start(plan)
    assert name == "gsw-Middle Low German-1"
    assert (runs / name / "corpus.tsv.gz").read_bytes() == text
    assert first_pair(runs / name) == ("a b", "c d")
    recipe, header = load_recipe(runs / name / RECIPE), read_header(start_from.path)
    assert recipe.data.valid == str(runs / name / "valid.tsv")
    assert (recipe.data.source_language, recipe.data.target_language) == ("gsw", "Middle Low German")
    dropout = {name: getattr(recipe.model, name) for name in ("dropout", "embedding_dropout")}  # suits the text
    assert recipe.model == replace(header.config, vocab_size=recipe.tokenizer.vocab_size, **dropout)
    assert (recipe.training.init_from, recipe.training.own_vocabulary) == (start_from.path, True)


@pytest.mark.soak
def test_a_run_on_text_with_a_few_bad_lines_skips_and_counts_them(runs: Path) -> None:
    """The real trainer, which counts the lines again."""
    lines = [b"%s %s\t%d %d\n" % (b"abcdefghij"[i % 10 :][:1] * 3, b"%d" % i, i, i % 7) for i in range(200)]
    lines[20], lines[90] = b"no TAB\n", b"caf\xe9\tKaffee\n"
    text = read_own_text("x.tsv", b"".join(lines))
    valid = read_own_text("v.tsv", b"aaa 1\t1 1\n" * 5, 1)
    name = launch_run.start(TextPlan(text, "en", "de", Size(10, 1, 1, 1, 32), valid))
    recipe = load_recipe(runs / name / RECIPE)
    assert (recipe.data.on_error, recipe.data.skip_limit) == ("skip", 0.01)
    assert launch_run._STARTED[runs / name].wait(10 * PATIENCE) == 0, (runs / name / LOG).read_text()
    counts = json.loads((runs / name / "corpus.json").read_text())
    assert (counts["read"], counts["skipped"]) == (200, 2) == (text.bad.read, text.bad.count)
    without = TextPlan(read_own_text("x.tsv", b"".join(lines[:20])), "en", "de", SIZE, valid)
    (runs / "other").mkdir()
    assert without.recipe(runs / "other").data.on_error == "stop"


def test_a_run_that_cannot_be_started_leaves_nothing(runs: Path, finished_run: Path) -> None:
    gone = replace(CheckpointFile.at(finished_run / "best.safetensors"), path=str(runs / "none.safetensors"))
    with pytest.raises(HeadlightError):
        launch_run.start(TextPlan(read_own_text("x.tsv", b"a\tb\n", 1), "en", "de", SIZE, None, gone))
    assert list(runs.iterdir()) == []


def test_a_run_whose_folder_was_deleted_while_it_is_started_says_so(
    runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def recipe(plan: ToyPlan, folder: Path) -> Recipe:
        folder.rmdir()
        return load_recipe(plan.task)

    monkeypatch.setattr(ToyPlan, "recipe", recipe)
    with pytest.raises(LaunchError, match=r"The run's folder cannot be written to: No such file or directory\."):
        launch_run.start(ToyPlan("sort", SIZE))
    assert list(runs.iterdir()) == []


def test_one_run_at_a_time_and_it_can_be_stopped_and_resumed(
    stub_trainer: list["subprocess.Popen[bytes]"], runs: Path
) -> None:
    name = launch_run.start(ToyPlan("reverse", SIZE))
    folder = runs / name
    with pytest.raises(LaunchError, match=f"“{name}” is still running"):
        launch_run.start(ToyPlan("copy", SIZE))
    until_ready(folder, stub_trainer[0])
    assert launch_run.is_busy(folder)
    launch_run.stop(name)
    assert stub_trainer[0].wait(PATIENCE) == 1
    assert not launch_run.is_busy(folder)
    assert run_log.last_words(folder) == "Stopped by SIGTERM after update 7."
    launch_run.resume(name)
    until_ready(folder, stub_trainer[1])
    assert run_log.last_words(folder) == ""  # what was said before is no longer true
    assert "Stopped" not in run_log.newest_words(folder)
    assert stub_trainer[1].args[-1] == "--resume"  # type: ignore[index]
    assert name == "reverse-1"
    assert len(stub_trainer) == 2


def test_a_run_is_still_known_after_a_restart_of_the_app(
    stub_trainer: list["subprocess.Popen[bytes]"], runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = launch_run.start(ToyPlan("reverse", SIZE))
    until_ready(runs / name, stub_trainer[0])
    monkeypatch.setattr(launch_run, "_STARTED", {})
    assert launch_run.is_busy(runs / name)
    with pytest.raises(LaunchError, match="One run at a time"):
        launch_run.resume(name)
    launch_run.stop(name)
    assert stub_trainer[0].wait(PATIENCE) == 1


def test_only_what_was_started_here_is_stopped(runs: Path, finished_run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(finished_run, runs / "toy")
    killed: list[int] = []
    monkeypatch.setattr("app.views.training.launch_run.os.kill", lambda process, number: killed.append(number))
    for name in ("toy", "none", "../toy"):
        with pytest.raises(LaunchError, match="started here"):
            launch_run.stop(name)
        with pytest.raises(LaunchError, match="started here"):
            launch_run.resume(name)
    assert signal.SIGTERM not in killed


def test_switched_off_nothing_is_started(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADLIGHT_TRAINING", "off")
    for action in (
        lambda: launch_run.start(ToyPlan("reverse", SIZE)),
        lambda: launch_run.resume("x"),
        lambda: launch_run.stop("x"),
    ):
        with pytest.raises(LaunchError, match="switched off"):
            action()
    assert not runs.exists()


@pytest.mark.parametrize(
    ("address", "stated", "allowed"),
    [
        ("127.0.0.1", "", True),
        ("localhost", "", True),
        ("0.0.0.0", "", False),
        (None, "", False),  # Streamlit's own default: all addresses
        ("0.0.0.0", "on", True),
        ("127.0.0.1", "off", False),
        ("127.0.0.1", "Off ", False),
        ("127.0.0.1", "nonsense", False),
    ],
)
def test_an_app_that_others_can_reach_starts_no_training_unless_it_is_allowed(
    address: str | None, stated: str, allowed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.server.visitor.st.get_option", {"server.address": address}.__getitem__)
    monkeypatch.setenv("HEADLIGHT_TRAINING", stated)
    assert is_allowed() == allowed


def test_a_run_does_not_begin_with_random_weights_if_the_chosen_checkpoint_was_deleted(tmp_path: Path) -> None:
    write_checkpoint(tmp_path / "mine.safetensors")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HEADLIGHT_CHECKPOINTS", str(tmp_path))
        chosen = start_window.first_weights("mine")
        assert chosen == CheckpointFile.at(tmp_path / "mine.safetensors")
        (tmp_path / "mine.safetensors").unlink()
        with pytest.raises(LaunchError, match="“mine” does not exist any more"):
            start_window.first_weights("mine")
    assert start_window.first_weights(None) is None
