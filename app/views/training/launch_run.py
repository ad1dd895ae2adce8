"""Start, stop and resume a training run from the browser, as a process of its own that outlives page and app.

    python -m transformer train RUN/started.toml --run-dir RUN [--resume]    its output goes to RUN/log.txt

A user could type the same command. The folder holds all that it needs, so the run can be resumed on the command line
too. Names of folders and files are made here, never taken from a visitor, and uploaded text stays in the run's folder.
One run at a time. HEADLIGHT_TRAINING=off switches training from the browser off. In an app that serves other machines
it is off unless HEADLIGHT_TRAINING=on. On such a server a run belongs to the visitor who started it: only they can stop
and resume it, and rename and delete it (manage_run.py).
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

from app.languages import _, gettext_noop
from app.library.runs import Run, holder, last_holder, read_run
from app.library.snapshots import OWNER, own_run_names, runs_folder
from app.server.visitor import identity, is_at_this_machine
from app.views.training.own_text import LaunchError
from app.views.training.run_log import LOG, RECIPE, command_of, ended_unexpectedly, last_words
from app.views.training.run_plan import Plan
from transformer.errors import HeadlightError
from transformer.recipe import recipe_text

ROOT = Path(__file__).resolve().parents[3]
MOST_RUNS = 50  # started in the browser and not yet deleted

NOT_YOURS = gettext_noop(
    "This run was started by another visitor. Only they can stop, resume, rename or delete it here, in the browser in "
    "which they started it."
)

_STARTED: dict[Path, subprocess.Popen[bytes]] = {}
RUNS_LOCK = threading.Lock()


def is_allowed() -> bool:
    """Whether this visitor may start processes. HEADLIGHT_TRAINING, "on" or "off", decides; if it is not set, only the
    person at the machine may."""
    stated = os.environ.get("HEADLIGHT_TRAINING", "").strip().lower()
    return stated == "on" if stated else is_at_this_machine()


def is_owner(run: Run) -> bool:
    """Whether this visitor may stop and resume the run: they started it, or sit at the machine that runs the app."""
    if is_at_this_machine():
        return True
    try:
        owner = (run.folder / OWNER).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return False
    return bool(owner) and owner == identity()


def start(plan: Plan) -> str:
    """Starts a run; returns its name. Raises LaunchError, or ConfigError for a recipe that cannot be followed."""
    with RUNS_LOCK:
        _check_other_runs()
        _check_room()
        owner = identity()
        if not owner and not is_at_this_machine():
            raise LaunchError(
                _(
                    "Your browser keeps no cookies for this page, so the run could not be recognised as yours and "
                    "nobody could stop it here. Allow cookies for this page and reload it."
                )
            )
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
    if not is_allowed():
        raise LaunchError(_("Training from the browser is switched off."))
    run = read_run(name)
    if run is None or not run.ours:
        raise LaunchError(_("Only a run that was started here can be stopped here."))
    check_owner(run)
    process, number = _STARTED.get(run.folder), holder(run.folder)
    try:
        if process is not None and process.poll() is None:
            process.terminate()
        elif number is not None:
            os.kill(number, signal.SIGTERM)
    except (ProcessLookupError, PermissionError):
        raise LaunchError(_("The process of this run has ended, or belongs to another user.")) from None


def is_busy(folder: Path) -> bool:
    """Whether a process works in this folder: one that this app has started, or one that holds the lock of the run."""
    process = _STARTED.get(folder)
    return (process is not None and process.poll() is None) or holder(folder) is not None


def is_ending(folder: Path) -> bool:
    """Whether the process that was started here has finished the run but not yet exited: it has released its lock, or
    has written why it ends. The exit takes seconds on a busy machine."""
    process = _STARTED.get(folder)
    if process is None or process.poll() is not None:
        return False
    had_lock = last_holder(folder) == process.pid  # read first: the trainer may take the lock between the calls
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


def _check_other_runs() -> None:
    if not is_allowed():
        raise LaunchError(_("Training from the browser is switched off."))
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


def check_owner(run: Run) -> None:
    if not is_owner(run):
        raise LaunchError(_(NOT_YOURS))


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
