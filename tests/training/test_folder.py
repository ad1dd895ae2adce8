"""A folder has one run, and one process trains in it. Files of something else are neither used nor lost."""

import errno
import fcntl
import logging
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.support.patience import PATIENCE
from tests.support.small_training import in_new_process, toy_recipe
from transformer.data.toy_tasks import TOY_TASKS
from transformer.data.training_data import TrainingData
from transformer.errors import HeadlightError, TrainingError
from transformer.text.tokenizer import Tokenizer
from transformer.training import train
from transformer.training.run_folder import Run


def test_a_folder_that_holds_a_run_is_not_overwritten(finished: Path) -> None:
    before = (finished / "training.safetensors").read_bytes()
    with pytest.raises(TrainingError, match=r"already has a run\. .*continue it with --resume: .* --resume "):
        train(toy_recipe(), finished, device="cpu")
    assert (finished / "training.safetensors").read_bytes() == before


def test_a_folder_that_holds_checkpoints_only_is_not_overwritten_either(finished: Path, tmp_path: Path) -> None:
    (tmp_path / "best.safetensors").write_bytes((finished / "best.safetensors").read_bytes())
    with pytest.raises(TrainingError, match="already has a run"):
        Run(tmp_path, resume=False)
    with pytest.raises(TrainingError, match="nothing to resume"):
        Run(tmp_path, resume=True)


def test_a_folder_that_holds_snapshots_only_is_not_overwritten(tmp_path: Path) -> None:
    """The time machine would show another run's snapshots among its own."""
    (tmp_path / "snapshots").mkdir()
    (tmp_path / "snapshots" / "00000002.safetensors").touch()
    with pytest.raises(TrainingError, match="already has a run"):
        Run(tmp_path, resume=False)


def test_resuming_from_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TrainingError, match=r"no folder .*typo to resume from"):
        Run(tmp_path / "typo", resume=True)


def enter(folder: Path, output: Path) -> None:
    try:
        with Run(folder, resume=False):
            output.write_text("entered")
    except TrainingError as error:
        output.write_text(str(error))


def test_two_processes_do_not_train_in_one_folder(tmp_path: Path) -> None:
    with Run(tmp_path, resume=False):
        with pytest.raises(TrainingError, match="Another process is training in"), Run(tmp_path, resume=False):
            pass
        (tmp_path / ".half.tmp").touch()
        other = in_new_process(enter, tmp_path, tmp_path / "output")
        other.join(timeout=PATIENCE)
        assert "Another process is training in" in (tmp_path / "output").read_text()
        assert (tmp_path / ".half.tmp").exists()  # nothing of the first one's was touched
    with Run(tmp_path, resume=False):
        assert not (tmp_path / ".half.tmp").exists()


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EIO])
def test_a_file_system_without_locks_is_reported_and_one_that_fails_is_named(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    files = []

    def flock(file: Any, operation: int) -> None:
        files.append(file)
        raise OSError(number, "because")

    monkeypatch.setattr(fcntl, "flock", flock)
    if number == errno.EIO:
        with pytest.raises(TrainingError, match=r"because \(.*\.lock\)"), Run(tmp_path, resume=False):
            pass
    else:
        with caplog.at_level(logging.WARNING), Run(tmp_path, resume=False):
            assert "no second process uses this folder" in caplog.text
    assert files[0].closed


@pytest.mark.parametrize("named", [False, True])
def test_a_vocabulary_file_that_the_run_did_not_write_is_neither_used_nor_lost(named: bool, tmp_path: Path) -> None:
    recipe, mine = toy_recipe(), tmp_path / "tokenizer.model"
    if named:
        recipe = replace(recipe, tokenizer=replace(recipe.tokenizer, model=str(mine)))
    mine.write_bytes(b"mine")
    with pytest.raises(TrainingError, match=r"tokenizer\.model is not of a run.*Move it .*--run-dir"):
        train(recipe, tmp_path, device="cpu")
    assert [path.name for path in tmp_path.iterdir()] == ["tokenizer.model"]
    assert mine.read_bytes() == b"mine"


def test_the_vocabulary_that_a_killed_run_has_left_is_used_only_if_it_is_named(tmp_path: Path) -> None:
    recipe, kept = toy_recipe(updates=1), tmp_path / "tokenizer.model"
    with Run(tmp_path, resume=False):  # and killed
        kept.write_bytes(left := Tokenizer.train(TOY_TASKS["numbers"].tokenizer_lines(), recipe.tokenizer).to_bytes())
    named = replace(recipe, tokenizer=replace(recipe.tokenizer, model=str(kept)))
    with Run(tmp_path, resume=False) as run:
        assert TrainingData(named, tmp_path, run.tokenizer()).tokenizer.to_bytes() == left
    train(recipe, tmp_path, resume=True, device="cpu")
    assert kept.read_bytes() != left


@pytest.mark.parametrize("name", ["two\nlines", "a\tb", "caf\udce9", "a\u2028b"])
def test_a_folder_whose_name_cannot_be_printed_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(
        TrainingError, match=r"name of the folder .* has a line break, .* choose another folder"
    ) as error:
        train(toy_recipe(), tmp_path / name, device="cpu")
    assert str(error.value).isprintable()
    assert not list(tmp_path.iterdir())


def test_all_files_of_a_run_have_the_permissions_of_new_files(tmp_path: Path) -> None:
    """So another user can see the run in the app, and resume it."""
    run = tmp_path / "run"
    train(toy_recipe(updates=1), run, device="cpu")
    plain = tmp_path / "plain.txt"
    plain.touch()
    modes = {path.name: path.stat().st_mode for path in run.rglob("*") if path.is_file()}
    assert "training.safetensors" in modes
    assert set(modes.values()) == {plain.stat().st_mode}, modes


def test_a_damaged_vocabulary_is_reported_with_its_file(tmp_path: Path) -> None:
    recipe = toy_recipe(updates=1)
    train(recipe, tmp_path, device="cpu")
    (tmp_path / "tokenizer.model").write_bytes(b"x")
    named = replace(recipe, tokenizer=replace(recipe.tokenizer, model=str(tmp_path / "tokenizer.model")))
    for what, folder, resume in ((recipe, tmp_path, True), (named, tmp_path / "new", False)):
        with pytest.raises(HeadlightError, match=rf"^{tmp_path / 'tokenizer.model'}: The tokenizer is not"):
            train(what, folder, resume=resume, device="cpu")
