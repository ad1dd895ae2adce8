"""The folder of training runs, and their snapshots: small checkpoints that a run keeps from its first update on.

A snapshot is a checkpoint like any other, so every page can open it: it has a name, `reverse-1, update 50`, which may
be in an address. Such a name is looked up among the files of the folder and never becomes a path.

The snapshots of some runs ship with the checkpoints; of such a run only its metrics and its snapshots are stored.
They are listed after the reader's own runs, `FIRST` before the others. A run of the reader replaces a shipped one of
the same name.
"""

import os
import re
from pathlib import Path

from app.library.checkpoints import CheckpointFile, checkpoint_folder, escaped_name, has_unicode_name
from transformer.files.atomic_write import LOCK
from transformer.recipe import RECIPE

MOST_RUNS = 200
FIRST = "en-de-small"  # the first of the shipped runs: its early snapshots write words, the later ones sentences
SHIPPED = "example-runs"  # in pretrained/
OWNER = "owner.txt"  # in the folder of a run that was started in the browser: identifies the visitor who did
_FILE = re.compile(r"(\d{8})\.safetensors", re.ASCII)
_NAME = re.compile(r"(?P<run>.+), update (?P<update>\d{1,8})", re.ASCII)


def runs_folder() -> Path:
    """The folder of runs: HEADLIGHT_RUNS, or `runs/` of the repository."""
    return Path(os.environ.get("HEADLIGHT_RUNS") or Path(__file__).resolve().parents[2] / "runs").resolve()


def shipped_folder() -> Path:
    """The folder of the runs that ship with the checkpoints."""
    return checkpoint_folder().resolve() / SHIPPED


def run_names() -> list[str]:
    """The runs by name: the reader's own, the one that was written to last first, and then those that ship."""
    own = own_run_names()
    shipped = [path.name for path in _runs_in(shipped_folder()) if path.name not in own]
    return own + sorted(shipped, key=lambda name: (name != FIRST, name))


def own_run_names() -> list[str]:
    """The reader's own runs by name, the one that was written to last first."""
    found = [(modified(path), path.name) for path in _runs_in(runs_folder())]
    return [name for _, name in sorted(found, reverse=True)[:MOST_RUNS]]


def run_folder(name: str) -> Path | None:
    """The folder of the run of this name, one of `run_names`; None if there is none."""
    if name in own_run_names():
        return runs_folder() / name
    return shipped_folder() / name if name in run_names() else None


def snapshot_folder(run: str) -> Path | None:
    """Where the snapshots of this run are stored; None if there is no such run."""
    folder = run_folder(run)
    return folder and folder / "snapshots"


def snapshots(run: str) -> dict[int, CheckpointFile]:
    """The snapshots of a run by update, the first one first."""
    folder, found = snapshot_folder(run), {}
    try:
        inside = sorted(folder.iterdir()) if folder else []
    except OSError:
        inside = []
    for path in inside:
        match = _FILE.fullmatch(path.name)
        if match:
            try:
                found[int(match[1])] = CheckpointFile.at(path, snapshot_name(run, int(match[1])))
            except OSError:  # a run that is resumed has just deleted it
                continue
    return found


def snapshot_name(run: str, update: int) -> str:
    """What a snapshot is called in the list of checkpoints."""
    return f"{run}, update {update}"


def run_and_update(name: str) -> tuple[str, int] | None:
    """(run, update) of the name of a snapshot, whether it exists or not; None: it is not such a name."""
    match = _NAME.fullmatch(name)
    return (match["run"], int(match["update"])) if match else None


def best_name(run: str) -> str:
    """What the best checkpoint of a run is called."""
    return f"{run}, best"


def run_of_best(name: str) -> str | None:
    """The run of the name of a best checkpoint, whether it exists or not; None: it is not such a name."""
    run = name.removesuffix(", best")
    return run if run and run != name else None


def snapshot(name: str) -> CheckpointFile | None:
    """The snapshot of this name; None if there is none."""
    found = run_and_update(name)
    return snapshots(found[0]).get(found[1]) if found else None


def modified(path: Path) -> int:
    """The time in ns at which a file, or the newest file of a folder, was written; 0 if it does not exist."""
    try:
        inside = [path, *path.iterdir()] if path.is_dir() else [path]
        return max(each.stat().st_mtime_ns for each in inside)
    except OSError:
        return 0


def skipped_runs() -> list[str]:
    """The names of runs in both folders that `run_names` leaves out, escaped: they are not UTF-8."""
    found = [*_all_runs_in(runs_folder()), *_all_runs_in(shipped_folder())]
    return sorted(escaped_name(path) for path in found if not has_unicode_name(path))


def _runs_in(folder: Path) -> list[Path]:
    return [path for path in _all_runs_in(folder) if has_unicode_name(path)]


def _all_runs_in(folder: Path) -> list[Path]:
    try:
        return [path for path in folder.iterdir() if _is_run(path)]
    except OSError:
        return []


def _is_run(path: Path) -> bool:
    """Whether the folder has something of a run. While a run of the command line prepares its text, these are only its
    lock and its recipe. A folder of prepared text has a lock, too."""
    known = any((path / name).is_file() for name in ("metrics.jsonl", "training.safetensors", OWNER))
    return known or all((path / name).is_file() for name in (LOCK, RECIPE))
