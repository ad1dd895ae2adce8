"""Rename and delete a run that was started in the browser, and add the checkpoint of a run to those of the app.

A run belongs to the visitor who started it (launch_run.py). A run that is being trained has to be stopped first. A run
of the command line that was stopped while it prepared its text can be deleted, too, by the person at the machine. All
visitors see the folder of checkpoints, so only the person at the machine may add a checkpoint to it.
"""

import os
import re
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from app.languages import _
from app.library.checkpoints import CheckpointFile, checkpoint_folder
from app.library.run_checkpoints import best_checkpoint
from app.library.runs import Run, read_run
from app.library.snapshots import run_and_update, run_names, run_of_best, runs_folder
from app.server.visitor import is_at_this_machine
from app.views.training import launch_run
from app.views.training.launch_run import RUNS_LOCK
from app.views.training.run_log import LOG, RECIPE, ended_unexpectedly, last_words
from app.views.training.run_permission import LaunchError, check_allowed, check_owner, is_allowed, is_owner
from transformer.files.atomic_write import LOCK, replacing
from transformer.recipe import RECIPE as RECIPE_OF_RUN

LONGEST_NAME = 60  # characters
# What a trainer writes before it trains (transformer/training/run_folder.py)
PREPARED = {
    LOCK,
    RECIPE_OF_RUN,
    "tokenizer.model",
    "prepared",
    "corpus.json",
    "corpus-files.json",
    "aside",
    "start.json",  # in older runs
}


def may_change(run: Run) -> bool:
    """Whether this visitor may rename the run."""
    return run.ours and is_allowed() and is_owner(run)


def may_delete(run: Run) -> bool:
    """Whether this visitor may delete the run."""
    return _is_deletable(run) and is_allowed() and is_owner(run)


def delete(name: str) -> None:
    """Deletes the folder of a run with all that is in it. Raises LaunchError."""
    with RUNS_LOCK:
        try:
            shutil.rmtree(_own(name, _is_deletable).folder)
        except OSError as error:
            raise LaunchError(_("The run was not deleted completely: {reason}.", reason=_reason(error))) from None


def rename(name: str, new: str) -> str:
    """Gives a run another name; returns it, without spaces around it. Raises LaunchError."""
    new = new.strip()
    with RUNS_LOCK:
        run = _own(name)
        if new == name:
            return name
        check_name(new)
        target = runs_folder() / new
        if new in run_names() or target.exists():
            raise LaunchError(_("There is already a run “{name}”. Choose another name.", name=new))
        try:
            _move(run.folder, target)
        except OSError as error:
            raise LaunchError(_("The run was not renamed: {reason}.", reason=_reason(error))) from None
    return new


def check_name(name: str) -> None:
    """Raises LaunchError for what cannot be the name of a folder and of a checkpoint."""
    is_file = name.isprintable() and not set(name) & set('/\\:*?"<>|') and not name.startswith(".")
    if not name or len(name) > LONGEST_NAME or len(name.encode()) > 200 or not is_file:
        raise LaunchError(
            _(
                'A name has at most {most} characters, no / \\ : * ? " < > | among them, and does not begin with a '
                "full stop.",
                most=LONGEST_NAME,
            )
        )
    if run_and_update(name) or run_of_best(name):
        raise LaunchError(_("The name “{name}” is that of a checkpoint of a run. Choose another one.", name=name))


def add_to_checkpoints(name: str) -> CheckpointFile:
    """Copies the best checkpoint of a run, and its measurements, into the folder of checkpoints, under the name of the
    run. Raises LaunchError."""
    found = best_checkpoint(name)
    if not is_at_this_machine():
        raise LaunchError(_("Only the person at the machine that runs the app adds checkpoints to it."))
    if found is None:
        raise LaunchError(_("“{name}” has no checkpoint any more.", name=name))
    check_name(name)
    path = checkpoint_folder() / f"{name}.safetensors"
    if path.exists():
        raise LaunchError(_("There is already a checkpoint “{name}”. Rename the run first.", name=name))
    metrics = Path(found.path).with_name("metrics.jsonl")
    try:
        for source, target in ((metrics, path.with_suffix(".metrics.jsonl")), (Path(found.path), path)):
            if source.exists():
                with replacing(target) as temporary:
                    shutil.copyfile(source, temporary)
        return CheckpointFile.at(path)
    except OSError as error:
        reason = _reason(error)
        raise LaunchError(_("The folder of checkpoints cannot be written to: {reason}.", reason=reason)) from None


def remove_if_it_came_to_nothing(run: Run) -> str:
    """Deletes a run whose trainer said why it cannot train, before it saved anything. A run that ended unexpectedly is
    kept: its log is needed.

    Returns the message of the trainer; "" if the run was not deleted.
    """
    with RUNS_LOCK:
        if not may_change(run) or launch_run.is_busy(run.folder) or (run.folder / "training.safetensors").exists():
            return ""
        words = last_words(run.folder)
        if words in ("", ended_unexpectedly()) or words.startswith("Stopped by"):
            return ""
        if any(run.folder.glob("*.safetensors")):
            return ""
        shutil.rmtree(run.folder, ignore_errors=True)
        return "" if run.folder.exists() else words


def _is_deletable(run: Run) -> bool:
    """Whether it was started here, or is a run of the command line with nothing but prepared text."""
    try:
        return run.ours or PREPARED.issuperset(os.listdir(run.folder))
    except OSError:
        return False


def _own(name: str, can_be_changed: Callable[[Run], bool] = lambda run: run.ours) -> Run:
    """The run, if this visitor may change it now. Raises LaunchError."""
    check_allowed()
    run = read_run(name)
    if run is None or not can_be_changed(run):
        raise LaunchError(_("Only a run that was started here can be renamed or deleted here."))
    check_owner(run)
    if launch_run.is_busy(run.folder):
        raise LaunchError(_("“{name}” is still running. Stop it first.", name=name))
    return run


def _move(old: Path, new: Path) -> None:
    """Renames the folder of a run. Raises OSError; the folder then has its old name."""
    old.rename(new)
    try:
        _follow(old, new)
    except OSError:
        new.rename(old)
        with suppress(OSError):
            _follow(new, old)  # what was written before the error
        raise


def _follow(old: Path, new: Path) -> None:
    """Writes the new folder in place of the old one into the recipes and the log, so that the run can be resumed."""
    launch_run.forget(old)
    for path in (new / RECIPE, new / "recipe.toml", new / LOG):
        if path.is_file():
            text = path.read_text(encoding="utf-8", errors="replace")
            with replacing(path) as temporary:
                moved = re.sub(rf"{re.escape(str(old))}(?![^/\s\"'])", lambda found: str(new), text)
                temporary.write_text(moved, encoding="utf-8")


def _reason(error: OSError) -> str:
    return error.strerror or str(error)
