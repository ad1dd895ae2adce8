"""Start, stop and resume a training run from the browser, as a process of its own that outlives page and app.

    python -m transformer train RUN/started.toml --run-dir RUN [--resume]    its output goes to RUN/log.txt

A user could type the same command. The folder holds all that it needs, so the run can be resumed on the command line
too. Names of folders and files are made here, never taken from a visitor, and uploaded text stays in the run's folder.
One run at a time. run_permission.py says who may.
"""

import os
import shutil
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from app.languages import _
from app.library.runs import holder, last_holder, read_run
from app.library.snapshots import OWNER, own_run_names, runs_folder
from app.views.training.run_log import LOG, RECIPE, command_of, ended_unexpectedly, last_words
from app.views.training.run_permission import LaunchError, check_allowed, check_owner, owner_of_new_run
from app.views.training.run_plan import Plan
from transformer.errors import HeadlightError
from transformer.recipe import recipe_text

ROOT = Path(__file__).resolve().parents[3]
MOST_RUNS = 50  # started in the browser and not yet deleted

_STARTED: dict[Path, subprocess.Popen[bytes]] = {}
RUNS_LOCK = threading.Lock()


def start(plan: Plan) -> str:
    """Starts a run; returns its name. Raises LaunchError, or ConfigError for a recipe that cannot be followed."""
    with RUNS_LOCK:
        check_allowed()
        _check_other_runs()
        _check_room()
        owner = owner_of_new_run()
        folder = _new_folder(plan.name)
        try:
            recipe = replace(plan.recipe(folder), name=folder.name)
            (folder / OWNER).write_text(owner, encoding="utf-8")
            (folder / RECIPE).write_text(recipe_text(recipe), encoding="utf-8")
            _begin(folder)
        except (OSError, HeadlightError) as error:
            shutil.rmtree(folder, ignore_errors=True)
            if isinstance(error, OSError):
                raise _not_writable(error) from None
            raise
        return folder.name


def resume(name: str) -> None:
    """Continues a run that was started here. Raises LaunchError."""
    with RUNS_LOCK:
        check_allowed()
        _check_other_runs()
        run = read_run(name)
        if run is None or not run.ours:
            raise LaunchError(_("Only a run that was started here can be resumed here."))
        check_owner(run)
        try:
            _begin(run.folder, "--resume")
        except OSError as error:
            raise _not_writable(error) from None


def stop(name: str) -> None:
    """Asks the trainer of a run that was started here to save and end (SIGTERM). Raises LaunchError.

    The trainer is the process that this app has started there, or else the one that holds the lock of the run.
    """
    check_allowed()
    run = read_run(name)
    if run is None or not run.ours:
        raise LaunchError(_("Only a run that was started here can be stopped here."))
    check_owner(run)
    number = holder(run.folder)
    try:
        if _runs_here(run.folder):
            _STARTED[run.folder].terminate()
        elif number is not None:
            os.kill(number, signal.SIGTERM)
    except (ProcessLookupError, PermissionError):
        raise LaunchError(_("The process of this run has ended, or belongs to another user.")) from None


def is_busy(folder: Path) -> bool:
    """Whether a process works in this folder: one that this app has started, or one that holds the lock of the run."""
    return _runs_here(folder) or holder(folder) is not None


def is_ending(folder: Path) -> bool:
    """Whether the process that was started here has finished the run but not yet exited: it has released its lock, or
    has written why it ends. The exit takes seconds on a busy machine."""
    if not _runs_here(folder):
        return False
    had_lock = last_holder(folder) == _STARTED[folder].pid  # first: the trainer may take the lock in between
    return (had_lock and holder(folder) is None) or last_words(folder) != ""


def why_it_ended(folder: Path) -> str:
    """The message of a trainer that has ended, or, if it left none, what the system says about a process that was
    started here; "" if neither is known."""
    process = _STARTED.get(folder)
    code = process.poll() if process is not None else None
    if words := last_words(folder):
        return words
    if code == -signal.SIGKILL:
        return _(
            "The system ended the training, probably because memory ran out. Close other programs and resume it, or "
            "train a smaller model."
        )
    return ended_unexpectedly() if code not in (None, 0, -signal.SIGTERM) else ""


def forget(folder: Path) -> None:
    """Forgets the process of a folder that is gone, or that another run may get."""
    _STARTED.pop(folder, None)


def _runs_here(folder: Path) -> bool:
    """Whether the process that this app has started in this folder is running."""
    process = _STARTED.get(folder)
    return process is not None and process.poll() is None


def _check_other_runs() -> None:
    for name in own_run_names():
        folder = runs_folder() / name
        if (folder / OWNER).is_file() and is_busy(folder):
            raise LaunchError(
                _("One run at a time: “{name}” is still running. Wait for it, or stop it first.", name=name)
            )


def _check_room() -> None:
    runs = sum(1 for unused in runs_folder().glob(f"*/{OWNER}"))
    if runs >= MOST_RUNS:
        raise LaunchError(
            _(
                "The folder of runs has {runs} runs that were started in the browser, and {limit} is the limit. Delete "
                "some of them first.",
                runs=runs,
                limit=MOST_RUNS,
            )
        )


def _new_folder(name: str) -> Path:
    for number in range(1, 10_000):
        folder = runs_folder() / f"{name}-{number}"
        try:
            folder.mkdir(parents=True)
        except FileExistsError:
            continue
        except OSError as error:
            reason = error.strerror or error
            raise LaunchError(_("The folder of runs cannot be written to: {reason}.", reason=reason)) from None
        return folder
    raise LaunchError(_("The folder of runs is full. Remove some runs."))


def _not_writable(error: OSError) -> LaunchError:
    return LaunchError(_("The run's folder cannot be written to: {reason}.", reason=error.strerror or error))


def _begin(folder: Path, *arguments: str) -> None:
    command = [sys.executable, "-m", "transformer", "train", str(folder / RECIPE), "--run-dir", str(folder), *arguments]
    with (folder / LOG).open("ab") as log:
        log.write(f"{' '.join([command_of(folder), *arguments])}\n".encode())
        log.flush()
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # Ctrl-C ends the app, not the run
        )
    _STARTED[folder] = process
    with suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, process.pid, 10)  # the app has priority
