"""Errors of a run are reported with a message, and what was saved stays usable."""

import errno
import json
import resource
import signal
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.support.patience import PATIENCE
from tests.support.small_training import corpus_recipe, in_new_process, metadata, tensors, toy_recipe, wrap_update
from transformer.checkpoint.checkpoint_file import load_checkpoint
from transformer.config import Recipe
from transformer.errors import CheckpointError, CorpusError, HeadlightError, Stopped, TrainingError
from transformer.training import divergence, train, training_state
from transformer.training.divergence import Divergence
from transformer.training.training import Training
from transformer.training.training_state import Progress


def full(*arguments: Any, **options: Any) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def assert_saved_at(run: Path, update: int) -> None:
    """The files are those of this update, whole and finite."""
    assert metadata(run / "training.safetensors")["progress"]["update"] == update
    assert all(tensor.isfinite().all() for tensor in tensors(run / "training.safetensors").values())
    assert load_checkpoint(run / "last.safetensors").metrics["update"] >= update
    assert not list(run.rglob("*.tmp"))


# A full disk


@pytest.mark.parametrize(("module", "name"), [(training_state, "save_file"), (json, "dumps")], ids=["state", "metrics"])
def test_a_full_disk_is_reported_and_the_last_state_stays(
    module: Any, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The state, or the metrics of update 6."""
    recipe = toy_recipe(updates=12, save_every=5, log_every=6)

    def before(training: Training) -> None:
        if training.progress.update == 5:
            monkeypatch.setattr(module, name, full)

    wrap_update(monkeypatch, before=before)
    with pytest.raises(TrainingError, match=r"cannot be written to .*No space left on device.*Free some space"):
        train(recipe, tmp_path / "run", device="cpu")
    monkeypatch.undo()
    assert_saved_at(tmp_path / "run", 5)
    train(recipe, tmp_path / "run", resume=True, device="cpu")
    assert_saved_at(tmp_path / "run", 12)


def write_at_most(limit: int, recipe: Recipe, run: Path, output: Path) -> None:
    """Trains where the kernel itself refuses to let files grow beyond a limit."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
    try:
        train(recipe, run, resume=run.exists(), device="cpu")
    except HeadlightError as error:
        output.write_text(f"{type(error).__name__}: {error}")


def test_a_disk_that_is_full_from_the_start_is_reported_before_the_first_update(tmp_path: Path) -> None:
    process = in_new_process(write_at_most, 30_000, toy_recipe(), tmp_path / "run", tmp_path / "output")
    process.join(timeout=PATIENCE)
    assert process.exitcode == 0
    assert "state of the training cannot be written" in (tmp_path / "output").read_text()
    assert not (tmp_path / "run" / "training.safetensors").exists()
    assert not list((tmp_path / "run").rglob("*.tmp"))


def test_a_disk_that_fills_up_while_saving_leaves_the_state_before(tmp_path: Path) -> None:
    """The state of update 0 has no moments yet: a third of the later ones, which no longer fit."""
    recipe = toy_recipe()
    process = in_new_process(write_at_most, 90_000, recipe, tmp_path / "run", tmp_path / "output")
    process.join(timeout=PATIENCE)
    assert process.exitcode == 0
    assert "training.safetensors" in (tmp_path / "output").read_text()
    assert "Free some space" in (tmp_path / "output").read_text()
    assert_saved_at(tmp_path / "run", 0)
    train(recipe, tmp_path / "run", resume=True, device="cpu")
    assert_saved_at(tmp_path / "run", 12)


def test_a_folder_that_cannot_be_made_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(TrainingError, match=r"folder .*run cannot be written to: .*choose another --run-dir"):
        train(toy_recipe(), tmp_path / "file" / "run", device="cpu")


def test_a_disk_without_room_for_a_lock_is_reported_with_the_name_of_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_room(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")  # of a file that is open, and so without a name

    monkeypatch.setattr("transformer.training.run_folder.lock", no_room)
    with pytest.raises(
        TrainingError, match=r"No space left on device \(.*run/\.lock\)\. Correct that, or choose another"
    ):
        train(toy_recipe(), tmp_path / "run", device="cpu")


def test_a_folder_that_cannot_be_written_to_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(*arguments: Any, **options: Any) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(Path, "write_bytes", denied)
    with pytest.raises(TrainingError, match=r"tokenizer cannot be written to .*Permission denied"):
        train(toy_recipe(), tmp_path / "run", device="cpu")


# A corpus


def test_an_unreadable_line_is_reported_with_its_file_and_number(tmp_path: Path) -> None:
    recipe = corpus_recipe(tmp_path)
    corpus = Path(recipe.data.train[0])
    good = corpus.read_bytes().splitlines(keepends=True)
    corpus.write_bytes(b"".join([*good[:6], b"caf\xe9\tKaffee\n", *good[6:]]))
    with pytest.raises(CorpusError, match=r"corpus\.tsv, line 7: not UTF-8"):
        train(recipe, tmp_path / "run", device="cpu")
    corpus.write_bytes(b"".join([*good[:6], b"no tab here\n", *good[6:]]))
    with pytest.raises(CorpusError, match=r"corpus\.tsv, line 7: there is no column 2"):
        train(recipe, tmp_path / "run", device="cpu")
    corpus.write_bytes(b"".join(good))
    train(replace(recipe, training=replace(recipe.training, updates=1)), tmp_path / "run", device="cpu")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"corpus\.tsv: the file is empty"),
        ("\n\n", r"corpus\.tsv: on each of the 2 lines one side is empty"),
        ("\t\n \t \n", r"corpus\.tsv: on each of the 2 lines one side is empty"),
    ],
)
def test_an_empty_corpus_is_reported(text: str, message: str, tmp_path: Path) -> None:
    recipe = corpus_recipe(tmp_path)
    Path(recipe.data.train[0]).write_text(text)
    with pytest.raises(CorpusError, match=message):
        train(recipe, tmp_path / "run", device="cpu")


def test_a_vocabulary_that_cannot_be_read_is_reported(tmp_path: Path) -> None:
    recipe = corpus_recipe(tmp_path)
    recipe = replace(recipe, tokenizer=replace(recipe.tokenizer, model=str(tmp_path / "missing.model")))
    with pytest.raises(CorpusError, match=r"tokenizer\.model = .*missing\.model cannot be read"):
        train(recipe, tmp_path / "run", device="cpu")


# Numbers that are none


SHORT: dict[str, Any] = {"updates": 40, "log_every": 2, "save_every": 2, "schedule": "constant", "warmup": 2}


def diverge_at(update: int, monkeypatch: pytest.MonkeyPatch, stop_at: int = 0) -> None:
    """The next run has useless weights from this update on, and may be told to stop at another."""

    def before(training: Training) -> None:
        if training.progress.update == update:
            for weight in training.model.parameters():
                weight.data.mul_(30)

    def after(training: Training) -> None:
        if training.progress.update == stop_at:
            signal.raise_signal(signal.SIGTERM)

    monkeypatch.setattr(divergence, "WINDOW", 2)
    wrap_update(monkeypatch, before=before, after=after)


@pytest.mark.parametrize("warmup", [2, 30], ids=["after the warm-up", "in the warm-up"])
def test_a_run_that_diverges_ends_and_continues_from_before_at_a_lower_rate(
    warmup: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = toy_recipe(**SHORT | {"warmup": warmup, "keep_best": 9})
    diverge_at(20, monkeypatch)
    with pytest.raises(TrainingError, match=r"at update 26 the weights have diverged\..*lower training\.peak_rate"):
        train(recipe, tmp_path / "run", device="cpu")
    monkeypatch.undo()
    assert_saved_at(tmp_path / "run", 20)
    for kept in ("recent", "best"):  # none is newer than the state
        assert max(int(path.stem) for path in (tmp_path / "run" / kept).iterdir()) == 20
    lower = replace(recipe, training=replace(recipe.training, peak_rate=0.005, clip_norm=1.0))
    train(lower, tmp_path / "run", resume=True, device="cpu")
    assert_saved_at(tmp_path / "run", 40)


def test_a_run_that_is_stopped_while_its_loss_is_high_keeps_what_was_saved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    diverge_at(20, monkeypatch, stop_at=23)
    with pytest.raises(Stopped, match="from before the loss rose"):
        train(toy_recipe(**SHORT), tmp_path / "run", device="cpu")
    assert_saved_at(tmp_path / "run", 20)


def test_a_run_that_is_over_while_its_loss_is_high_is_not_said_to_be_finished(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = toy_recipe(**SHORT | {"updates": 24})
    diverge_at(20, monkeypatch)
    with pytest.raises(TrainingError, match=r"the run is finished: at update 24 the weights have diverged\..*--resume"):
        train(recipe, tmp_path / "run", device="cpu")
    monkeypatch.undo()
    assert_saved_at(tmp_path / "run", 20)
    assert not (tmp_path / "run" / "average.safetensors").exists()
    train(recipe, tmp_path / "run", resume=True, device="cpu")
    assert_saved_at(tmp_path / "run", 24)


def test_losses_that_rise_for_a_moment_or_begin_worse_than_guessing_do_not_end_a_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(divergence, "WINDOW", 1)
    progress = Progress()
    losses = Divergence(progress, warmup=4, vocab_size=8000)
    for update, loss in enumerate((12.0, 12.5, 12.9, 11.0, 4.0, 6.0, 6.0, 4.5, 5.2, 4.9, 6.0, 6.0), start=1):
        progress.update = update
        losses.add(100 * loss, 100)
    assert (progress.climbing, progress.lowest_loss) == (2, 4.0)
    progress.update += 1
    with pytest.raises(TrainingError, match=r"risen to 6\.00 and stays there, 2\.00 above.*saved is from before"):
        losses.add(600.0, 100)
    never_good = Divergence(Progress(update=50, lowest_loss=20.0, climbing=2), warmup=4, vocab_size=8000)
    with pytest.raises(TrainingError, match=r"never near 8\.99, .* the saved ones\. Start a new run"):
        never_good.add(2000.0, 100)


def test_divergence_is_detected_independently_of_log_every() -> None:
    progress = Progress(update=1000, lowest_loss=2.0)
    losses = Divergence(progress, warmup=4, vocab_size=8000)
    for number in range(2 * divergence.WINDOW):
        losses.add(600.0 if number % 5 < 3 else 50.0, 100)  # sentences hard and easy
    assert progress.climbing == 2  # two windows of 3.8 each


def test_weights_that_diverge_within_a_window_do_not_replace_good_ones() -> None:
    progress = Progress(update=1000, lowest_loss=2.0)
    losses = Divergence(progress, warmup=4, vocab_size=8000)
    for number in range(1, divergence.WINDOW):
        losses.add(600.0, 100)
        assert losses.may_be_saved == (number < divergence.LEAST)
        assert not progress.climbing
    assert Divergence(Progress(), warmup=4, vocab_size=8000).may_be_saved


def test_a_nan_loss_is_reported_with_its_update_and_the_state_before_is_good(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = toy_recipe(save_every=3)

    def before(training: Training) -> None:
        if training.progress.update == 6:
            with torch.no_grad():
                next(training.model.parameters())[:] = torch.nan

    wrap_update(monkeypatch, before=before)
    with pytest.raises(TrainingError, match=r"is NaN or infinite at update 7 .*training\.peak_rate"):
        train(recipe, tmp_path / "run", device="cpu")
    monkeypatch.undo()
    assert_saved_at(tmp_path / "run", 6)
    train(recipe, tmp_path / "run", resume=True, device="cpu")
    assert_saved_at(tmp_path / "run", 12)


@pytest.mark.parametrize("peak_rate", [1e20, 1e38])
@pytest.mark.parametrize("validate_every", [1, 100])
def test_a_rate_that_is_far_too_high_ends_the_run_with_a_message(
    peak_rate: float, validate_every: int, tmp_path: Path
) -> None:
    recipe = toy_recipe(peak_rate=peak_rate, validate_every=validate_every, save_every=1)
    with pytest.raises((TrainingError, CheckpointError), match=r"NaN or infinite|diverged"):
        train(recipe, tmp_path / "run", device="cpu")
    kept = list((tmp_path / "run").rglob("*.safetensors"))
    assert kept
    for file in kept:
        assert all(tensor.isfinite().all() for tensor in tensors(file).values()), file
