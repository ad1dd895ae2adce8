"""What may change between a run and its resumption, what may not, and what a signal or a crash may leave behind."""

import json
import os
import signal
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import save_file

from tests.support.small_training import (
    assert_same_run,
    corpus_recipe,
    lines,
    metadata,
    stop_after,
    tensors,
    toy_recipe,
    write_pairs,
)
from transformer.checkpoint import averaging
from transformer.checkpoint.checkpoint_file import read_header
from transformer.config import Recipe
from transformer.data import pair_sources
from transformer.data.toy_tasks import toy_pairs
from transformer.errors import TrainingError
from transformer.training import run_folder as run_module
from transformer.training import train, training, training_state, validation
from transformer.training.metrics import Metrics
from transformer.training.resume_check import differences
from transformer.training.training_state import read_progress

Runs = tuple[Recipe, Path]


def test_a_finished_run_continues_if_it_is_given_more_updates(tmp_path: Path) -> None:
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
    original = validation.validate

    def validate(*arguments: Any) -> Any:
        os.kill(os.getpid(), signal.SIGTERM)
        return original(*arguments)

    monkeypatch.setattr(training, "validate", validate)
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


@pytest.fixture
def at_a_terminal() -> Iterator[None]:
    """Does not ignore SIGHUP, as tests that are started with nohup otherwise would."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.mark.usefixtures("at_a_terminal")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_before_training_begins_is_reported_and_the_command_can_be_repeated(
    number: signal.Signals, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*arguments: Any, **options: Any) -> None:
        os.kill(os.getpid(), number)

    before, named = signal.getsignal(number), "Ctrl-C" if number == signal.SIGINT else number.name
    monkeypatch.setattr(pair_sources, "toy", interrupted)
    with pytest.raises(TrainingError, match=rf"Stopped by {named} before .* started; nothing is saved yet\. G"):
        train(toy_recipe(), tmp_path / "run", device="cpu")
    monkeypatch.undo()
    assert signal.getsignal(number) == before
    train(toy_recipe(updates=1), tmp_path / "run", device="cpu")
    monkeypatch.setattr(pair_sources, "toy", interrupted)
    with pytest.raises(TrainingError, match=rf"Stopped by {named} before .* continued; what was saved is unch"):
        train(toy_recipe(), tmp_path / "run", resume=True, device="cpu")


@pytest.mark.usefixtures("at_a_terminal")
def test_a_closed_terminal_stops_a_run_unless_it_was_started_with_nohup(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop_after(5, monkeypatch, signal.SIGHUP)
    with pytest.raises(TrainingError, match="Stopped by SIGHUP after update 5"):
        train(toy_recipe(), tmp_path / "run", device="cpu")
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        train(toy_recipe(), tmp_path / "nohup", device="cpu")
    finally:
        signal.signal(signal.SIGHUP, before)
    assert read_header(tmp_path / "nohup" / "last.safetensors").metrics["update"] == 12


def test_signal_handlers_are_restored_after_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)
    stop_after(1, monkeypatch, signal.SIGINT)
    with pytest.raises(TrainingError, match="Stopped by Ctrl-C after update 1 of"):
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
    """States written by older versions of Headlight can be used."""
    recipe, run = stopped
    _, known = training_state.read_progress(run / "training.safetensors")
    recipe = replace(recipe, model=replace(recipe.model, vocab_size=known["model"]["vocab_size"]))
    del known["model"]["activation"], known["training"]["cooldown"]
    assert differences(known, recipe) == []
    known["training"].pop("snapshots")
    assert differences(known, recipe, {"training": set()}) == []
    changed = replace(recipe, training=replace(recipe.training, cooldown=0.5))
    assert differences(known, changed) == ["training.cooldown: 0.0 then, 0.5 now"]


@pytest.mark.parametrize(
    "change",
    [
        "nothing",
        "valid",
        *(
            pytest.param(change, marks=pytest.mark.soak)
            for change in ("translations, under loss", "best_by", "validation_sentences")
        ),
    ],
)
def test_scores_of_another_validation_are_not_compared_with(
    change: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scores = {"loss": 1.0, "bleu": 50.0}
    monkeypatch.setattr(training, "validate", lambda *arguments: dict(scores))
    valid = write_pairs(tmp_path / "valid.tsv", toy_pairs("numbers", 2, 5))
    recipe = corpus_recipe(tmp_path, updates=5, validate_every=5, best_by="loss" if "loss" in change else "bleu")
    recipe = replace(recipe, data=replace(recipe.data, valid=str(valid)))
    train(recipe, tmp_path / "run", device="cpu")
    changes: dict[str, Any] = {"best_by": "loss", "validation_sentences": 3}
    changes = {change: changes[change]} if change in changes else {}
    if change == "valid":
        write_pairs(valid, toy_pairs("numbers", 3, 5))
    scores.update(loss=2.0, bleu=40.0)
    longer = replace(recipe, training=replace(recipe.training, updates=10, **changes))
    if "loss" in change:  # which depends on no translation
        longer = replace(
            longer,
            training=replace(longer.training, validation_sentences=3),
            decoding=replace(longer.decoding, max_extra_length=7),
        )
    chosen = train(longer, tmp_path / "run", resume=True, device="cpu")
    progress = metadata(tmp_path / "run" / "training.safetensors")["progress"]
    assert progress["best"] == {"nothing": 50.0, "translations, under loss": -1.0, "best_by": -2.0}.get(change, 40.0)
    assert chosen.stem == ("best" if change in ("nothing", "translations, under loss") else "average")
    assert read_header(tmp_path / "run" / "best.safetensors").metrics["update"] == 5  # at 10 it is no better
    assert [line["update"] for line in lines(tmp_path / "run") if line["kind"] == "valid"] == [5, 10]


@pytest.mark.parametrize("damage", ["cut", "emptied", "something else"])
def test_a_damaged_state_is_refused_with_a_message(damage: str, stopped: Runs) -> None:
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
    torn = [run / ".training.safetensors.123.tmp", run / "recent" / ".00000002.safetensors.123.tmp"]
    torn[1].parent.mkdir(exist_ok=True)
    for path in torn:
        path.write_bytes(b"half a fi")
    train(recipe, run, resume=True, device="cpu")
    assert not any(path.exists() for path in torn)


def test_snapshots_after_the_last_save_are_taken_again(tmp_path: Path) -> None:
    run = tmp_path / "run"
    train(toy_recipe(updates=4, snapshots=(0, 2)), run, device="cpu")
    late = run / "snapshots" / "00000006.safetensors"
    late.write_bytes(b"of a run that was killed before it was saved")
    early = (run / "snapshots" / "00000002.safetensors").stat().st_mtime_ns
    train(toy_recipe(updates=8, snapshots=(0, 2, 6)), run, resume=True, device="cpu")
    assert read_header(late).metrics["update"] == 6
    assert (run / "snapshots" / "00000002.safetensors").stat().st_mtime_ns == early


def test_metrics_after_the_last_save_and_invalid_lines_are_dropped(tmp_path: Path) -> None:
    metrics = Metrics(tmp_path)
    for update in (5, 10, 15):
        metrics.write(update, "train", {"loss": 1.0})
        metrics.write(update, "valid", {"bleu": 2.0})
    metrics.close()
    with (tmp_path / "metrics.jsonl").open("a") as file:
        file.write('{"kind": "train"}\n{"update": "5", "kind": "train"}\n{"update": 5}\n[5]\n{"update": 20, "ki')
    with (tmp_path / "metrics.jsonl").open("ab") as file:
        file.write(b"\xff\xfe\n" + b"[" * 100_000)
    Metrics(tmp_path, update=10, validated=5).close()  # killed after the state of update 10, before its validation
    assert [(line["update"], line["kind"]) for line in lines(tmp_path)] == [(5, "train"), (5, "valid"), (10, "train")]


def test_a_snapshot_whose_validation_was_still_due_is_taken_with_its_scores_on_resuming(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, recipe = tmp_path / "run", toy_recipe(updates=4, validate_every=2, snapshots=(2,))
    stop_after(2, monkeypatch)
    with pytest.raises(TrainingError, match="Stopped"):
        train(recipe, run, device="cpu")
    monkeypatch.undo()
    train(recipe, run, resume=True, device="cpu")
    assert "valid_loss" in read_header(run / "snapshots" / "00000002.safetensors").metrics


def test_a_copy_of_a_snapshot_is_not_averaged_and_raises_no_error(stopped: Runs) -> None:
    recipe, run = stopped
    copies = [
        run / folder / name for folder in ("recent", "snapshots") for name in ("._2.safetensors", "a copy.safetensors")
    ]
    for path in copies:
        path.parent.mkdir(exist_ok=True)
        path.write_bytes((run / "last.safetensors").read_bytes())
    train(recipe, run, resume=True, device="cpu")
    assert all(path.exists() for path in copies)
    averaged = read_header(run / "average.safetensors").metrics["averaged"]
    assert [name for name in averaged if not name[:8].isdigit()] == []


@pytest.mark.parametrize(("flop", "refused"), [(1e18, False), (1e31, True)])
def test_a_state_holds_the_operations_of_a_large_model_since_the_last_line(
    stopped: Runs, flop: float, refused: bool
) -> None:
    _, run = stopped
    file = run / "training.safetensors"
    with safe_open(file, framework="pt") as opened:
        metadata = opened.metadata()
    metadata.pop("checksums")
    values = json.loads(metadata["progress"]) | {"recent_flop": flop}
    save_file(tensors(file), file, metadata | {"progress": json.dumps(values)})
    if refused:
        with pytest.raises(TrainingError, match=r"progress\.recent_flop = 1e\+31: should be at most 1e\+30"):
            read_progress(file)
    else:
        assert read_progress(file)[0].recent_flop == flop
