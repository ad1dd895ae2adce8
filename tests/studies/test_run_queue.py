"""A queue trains one model after the other, and continues where it stopped."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from tests.support.small_study import write_queue
from tests.support.small_training import lines, stop_after
from transformer.checkpoint.checkpoint_file import load_checkpoint
from transformer.cli import app
from transformer.config import Recipe
from transformer.errors import HeadlightError, Stopped
from transformer.studies import run_queue as running
from transformer.studies.measure_member import read_result
from transformer.studies.queue_file import load_queue
from transformer.studies.run_queue import claimed, is_done, run_queue

SCORED = {"bleu": 0, "exact_match": 0}


def test_every_run_of_the_queue_is_trained_and_scored(worked_off: tuple[Path, Path]) -> None:
    file, runs = worked_off
    assert {path.name for path in runs.iterdir() if path.is_dir()} == {"base-seed1", "base-seed2", "no-mask-seed1"}
    found = {}
    sources = len(
        {line.split("\t")[0] for line in (file.parent / "scored.tsv").read_text(encoding="utf-8").splitlines()}
    )
    for training in load_queue(file, file.parent).trainings:
        result = found[training.folder] = read_result(training, runs / training.folder)
        assert result is not None
        kept = load_checkpoint(runs / training.folder / result["checkpoint"])
        assert kept.config.causal_training == (training.member == "base")
        assert result["updates"] == 6
        assert result["beam_4"]["sentences"] == result["greedy"]["sentences"] == sources
        assert ("perplexity_without_mask" in result) == (training.member == "no-mask")
    unmasked = found["no-mask-seed1"]
    assert unmasked is not None
    assert unmasked["loss_without_mask"] != unmasked["loss"]


def test_finished_runs_are_skipped(worked_off: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    file, runs = worked_off
    queue = load_queue(file, file.parent)
    monkeypatch.setattr(running, "train", lambda *_, **__: pytest.fail("it was trained again"))
    run_queue(queue, queue.trainings, runs, "cpu")
    result = CliRunner().invoke(app, ["queue", str(file), "--data", str(file.parent), "--runs", str(runs), "--dry-run"])
    assert [line.split()[0] for line in result.stdout.splitlines()] == ["done"] * 3


def test_a_stopped_queue_continues_where_it_stopped(
    worked_off: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    queue = load_queue(write_queue(tmp_path), tmp_path)
    runs = tmp_path / "runs"
    with monkeypatch.context() as during:
        stop_after(3, during)
        with pytest.raises(Stopped, match="same command again"):
            run_queue(queue, queue.trainings, runs, "cpu")
    assert [is_done(training, runs) for training in queue.trainings] == [False] * 3
    run_queue(queue, queue.trainings[:1], runs, "cpu")
    assert lines(runs / "base-seed1") == lines(worked_off[1] / "base-seed1")  # as if nothing had happened


def test_ctrl_c_while_a_model_is_scored_loses_only_the_scoring(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    queue = load_queue(write_queue(tmp_path), tmp_path)

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as during:
        during.setattr(running, "measure", interrupted)
        with pytest.raises(Stopped, match=r"base-seed1 \(everything is saved\)"):
            run_queue(queue, queue.trainings, tmp_path / "runs", "cpu")
    run_queue(queue, queue.trainings[:1], tmp_path / "runs", "cpu")
    assert is_done(queue.trainings[0], tmp_path / "runs")


@pytest.mark.parametrize(
    "trouble",
    [
        HeadlightError("The weights have diverged."),
        OSError(28, "The disk is full"),
        RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried to allocate 8 bytes."),
    ],
)
def test_a_run_that_fails_does_not_keep_the_others(
    trouble: Exception, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    queue = load_queue(write_queue(tmp_path), tmp_path)
    trained: list[str] = []

    def train(recipe: Recipe, folder: Path, **_: Any) -> Path:
        if not recipe.model.causal_training:
            raise trouble
        trained.append(folder.name)
        return folder

    monkeypatch.setattr(running, "train", train)
    monkeypatch.setattr(running, "measure", lambda *_: {"perplexity": 1, "greedy": SCORED, "beam_4": SCORED})
    with pytest.raises(HeadlightError, match="without a result: no-mask-seed1"):
        run_queue(queue, queue.trainings, tmp_path / "runs", "cpu")
    assert trained == ["base-seed1", "base-seed2"]


def test_a_run_that_another_process_trains_is_skipped_and_not_a_failure(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    queue = load_queue(write_queue(tmp_path), tmp_path)
    first, *others = queue.trainings
    with claimed(first, tmp_path / "runs"):
        run_queue(queue, queue.trainings, tmp_path / "runs", "cpu")
    assert f"{first.folder}: another process is training it." in caplog.text
    assert not is_done(first, tmp_path / "runs")
    assert all(is_done(training, tmp_path / "runs") for training in others)


def test_without_the_text_that_runs_are_scored_on_nothing_is_trained(
    worked_off: tuple[Path, Path], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file, _ = worked_off
    queue = replace(load_queue(file, file.parent), scored_on=tmp_path / "gone.tsv")
    with pytest.raises(HeadlightError, match="Runs without a result"):
        run_queue(queue, queue.trainings[:1], tmp_path / "runs", "cpu")
    assert "gone.tsv, is missing" in caplog.text
    assert not list((tmp_path / "runs").glob("*/*"))


def test_only_members_like_the_pattern_are_worked_on(worked_off: tuple[Path, Path], tmp_path: Path) -> None:
    file, _ = worked_off
    common = ["queue", str(file), "--data", str(file.parent), "--runs", str(tmp_path)]
    result = CliRunner().invoke(app, [*common, "--only", "no-*", "--dry-run"])
    assert result.stdout.split() == ["to", "do", "no-mask-seed1"]
    wrong = CliRunner().invoke(app, [*common, "--only", "heads-*"])
    assert wrong.exit_code == 2
    assert "No member matches heads-*. The members are: base, no-mask." in wrong.stderr
    for what in ("--report", "--ship"):
        wrong = CliRunner().invoke(app, [*common, "--only", "no-*", what, str(tmp_path / "to")])
        assert wrong.exit_code == 2
        assert "leave --only out" in wrong.stderr
        wrong = CliRunner().invoke(app, [*common, "--dry-run", what, str(tmp_path / "to")])
        assert wrong.exit_code == 2
        assert "leave --dry-run out" in wrong.stderr
