"""A training run, read while it runs: its progress, and all its measurements.

Only files are read, so it does not matter who started the run, or where. Files are not trusted: a line of metrics
that is cut or has impossible values is skipped, and of a huge file only the end is read.
"""

import fcntl
import os
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import streamlit as st

from app.library.snapshots import OWNER, modified, run_folder, snapshots
from transformer.checkpoint.header import read_header
from transformer.config import Recipe
from transformer.errors import HeadlightError
from transformer.files.atomic_write import LOCK
from transformer.files.strict_json import parse_json
from transformer.recipe import RECIPE, load_recipe, stored_recipe
from transformer.training.training_state import Progress, read_progress
from transformer.training.validation_schedule import is_finished, validation_is_due

State = Literal["running", "stopped", "finished"]
Phase = Literal["preparing", "updating", "validating", "averaging"]
Curves = Mapping[tuple[str, str], tuple[np.ndarray, np.ndarray]]  # (kind, name): updates, values

MOST_BYTES = 16_000_000  # of a file of metrics: lines of 80,000 updates
NEWEST = 10  # lines of metrics that say how fast a run is
LARGEST = 1e30  # nothing that is measured is larger


@dataclass(frozen=True)
class Run:
    """A run as it is now.

    Attributes:
        recipe: that of its state, of its newest snapshot, or of its recipe.toml, the first that exists. None if it
            cannot be read, or is of another version.
        update, updates: how many were made so far, and how many there will be; 0 if unknown. While the run trains,
            `update` is the newest one in its metrics; else the one from which it would be resumed, or, without such a
            state, that of the newest snapshot.
        ours: whether it was started in the browser.
    """

    name: str
    folder: Path
    state: State
    recipe: Recipe | None
    update: int
    updates: int
    ours: bool


def read_run(name: str) -> Run | None:
    """The run of this name; None if there is none. The name may come from an address."""
    folder = run_folder(name)
    if folder is None:
        return None
    state, average = folder / "training.safetensors", folder / "average.safetensors"
    progress, recipe = _progress(str(state), modified(state))
    update = progress.update if progress else 0
    finished = bool(update) and _finished_at(str(average), modified(average)) == update
    kept = snapshots(name)
    if kept and not state.exists():  # a shipped run: its newest snapshot has the recipe
        update, recipe = max(kept), _recipe_of(kept[max(kept)].path, kept[max(kept)].modified)
        finished = recipe is not None and update >= recipe.training.updates
    if recipe is None and not state.exists():  # it has saved nothing yet
        recipe = _recipe_in(str(folder / RECIPE), modified(folder / RECIPE))
    running = holder(folder) is not None
    if running:
        update = max([update, *(int(updates[-1]) for updates, _ in read_curves(folder).values())])
    return Run(
        name,
        folder,
        "running" if running else "finished" if finished else "stopped",
        recipe,
        update,
        recipe.training.updates if recipe and recipe.training.epochs is None else 0,
        (folder / OWNER).is_file(),
    )


def is_continued(run: Run) -> bool:
    """Whether its first weights are those of a checkpoint; else they are random."""
    if run.recipe is not None and run.recipe.training.init_from is not None:
        return True
    return (run.folder / "start.json").is_file()  # of a run from before recipes had init_from


def holder(folder: Path) -> int | None:
    """The id of the process that trains in this folder: it locks the file LOCK, which contains the id.

    Trap: to find out whether a file is locked, one has to lock it, and a trainer that starts in that instant would find
    it taken. So the lock is only tested while the process that wrote its id there is alive
    (test_reading_a_run_does_not_prevent_it_from_starting).
    """
    number = last_holder(folder)
    if number < 2 or not _is_alive(number):
        return None
    try:
        with (folder / LOCK).open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return number
    except OSError:
        pass
    return None


def last_holder(folder: Path) -> int:
    """The id of the process that last locked this folder, whether it still does or not; 0 if none did."""
    try:
        with (folder / LOCK).open("rb") as file:
            text = file.read(20).strip()
    except OSError:
        return 0
    return int(text) if text.isdigit() else 0


def read_curves(folder: Path) -> Curves:
    """All that the run measured: updates (N) int64 and values (N) float64 by kind ("train", "valid") and name."""
    return read_metrics(folder / "metrics.jsonl")


def phase_of(run: Run) -> Phase:
    """What a running training does now, found by the trainer's own rule of what is due. The metrics show its progress:
    they have a line after each update and after each validation. The state that it saves before averaging shows whether
    `patience` has ended it."""
    lock, metrics, state = (run.folder / name for name in (LOCK, "metrics.jsonl", "training.safetensors"))
    if modified(metrics) < modified(lock):  # it takes the lock first, and writes metrics when all is ready
        return "preparing"
    lines = read_curves(run.folder).items()
    validated = max((int(updates[-1]) for (kind, _), (updates, _) in lines if kind == "valid"), default=0)
    saved, _ = _progress(str(state), modified(state))
    waited = saved.without_improvement if saved and saved.update == run.update else 0
    # It may have continued since `run` was read.
    progress = Progress(update=run.update, validated=min(validated, run.update), without_improvement=waited)
    if run.recipe is None or not run.update:
        return "updating"
    if validation_is_due(progress, run.recipe.training):
        return "validating"
    return "averaging" if is_finished(progress, run.recipe.training) else "updating"


def seconds_left(run: Run) -> float | None:
    """How long its updates will still take, at the speed of the newest ones; None: not known yet. Validations, and
    updates that `patience` may save, are not counted."""
    updates, seconds = read_curves(run.folder).get(("train", "seconds"), (np.array([]), np.array([])))
    if not len(updates) or not run.updates:
        return None
    first = max(len(updates) - NEWEST, 0)
    made, took = updates[-1] - updates[first], seconds[-1] - seconds[first]
    each = took / made if made > 0 and took > 0 else seconds[-1] / max(updates[-1], 1)
    return float(max(run.updates - run.update, 0) * each)


def read_metrics(path: Path) -> Curves:
    """As `read_curves`, from any file of metrics; {} if the file does not exist."""
    try:
        found = path.stat()
    except OSError:
        return {}
    return _curves(str(path), found.st_mtime_ns, found.st_size)


@st.cache_data(max_entries=64, show_spinner=False)
def _curves(path: str, changed: int, size: int) -> Curves:
    points: dict[tuple[str, str], dict[int, float]] = {}
    for update, line in metrics_lines(Path(path), size, ("train", "valid")):
        kind = line["kind"]
        for name, value in line.items():
            if type(value) in (int, float) and name != "update" and len(name) < 40 and abs(value) < LARGEST:
                points.setdefault((kind, name), {})[update] = float(value)
    curves = {}
    for key, measured in points.items():
        updates = sorted(measured)
        curves[key] = np.array(updates, dtype=np.int64), np.array([measured[update] for update in updates])
    return curves


def metrics_lines(path: Path, size: int, kinds: Collection[str]) -> Iterator[tuple[int, dict[str, Any]]]:
    """The lines of these kinds at the end of a file of metrics, each with its update. Anything else is skipped."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, size - MOST_BYTES))
            text = file.read(MOST_BYTES).decode(errors="replace")
    except OSError:
        return
    for line in text.split("\n"):
        try:
            value = parse_json(line)
        except ValueError:  # cut short, or no JSON at all
            continue
        if isinstance(value, dict) and value.get("kind") in kinds:
            update = value.get("update")
            if type(update) is int and 0 <= update < 2**50:
                yield update, value


@st.cache_data(max_entries=256, show_spinner=False)
def _progress(path: str, changed: int) -> tuple[Progress | None, Recipe | None]:
    try:
        progress, stated = read_progress(Path(path))
    except HeadlightError:
        return None, None
    return progress, stored_recipe(stated)


@st.cache_data(max_entries=256, show_spinner=False)
def _recipe_of(path: str, changed: int) -> Recipe | None:
    """The recipe in a checkpoint."""
    try:
        return stored_recipe(read_header(path).recipe)
    except HeadlightError:
        return None


@st.cache_data(max_entries=256, show_spinner=False)
def _recipe_in(path: str, changed: int) -> Recipe | None:
    """The recipe in a file of text."""
    try:
        return load_recipe(path)
    except HeadlightError:
        return None


@st.cache_data(max_entries=256, show_spinner=False)
def _finished_at(path: str, changed: int) -> int | None:
    """The update after which the run was finished: its average then has scores."""
    try:
        metrics = read_header(path).metrics
    except HeadlightError:
        return None
    update = metrics.get("update")
    return update if isinstance(update, int) and "valid_loss" in metrics else None


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:  # another user's
        return True
    return True
