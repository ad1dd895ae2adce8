"""The best checkpoint of a run. Its name, such as `reverse-1, best`, may be in an address. Like a snapshot, it can be
opened on every page. And which checkpoints are of a run."""

import streamlit as st

from app.library.checkpoints import CheckpointFile, checkpoints
from app.library.snapshots import (
    best_name,
    modified,
    own_run_names,
    run_and_update,
    run_folder,
    run_of_best,
    snapshot,
)
from transformer.checkpoint.header import read_header
from transformer.errors import HeadlightError
from transformer.recipe import stored_recipe
from transformer.training.validation_schedule import goodness


def run_checkpoint(name: str) -> CheckpointFile | None:
    """The snapshot or the best checkpoint of this name; None if there is none."""
    run = run_of_best(name)
    return snapshot(name) if run is None else best_checkpoint(run)


def best_checkpoint(run: str) -> CheckpointFile | None:
    """The average of the last checkpoints if it scored at least as well as the best single one, else the best single
    one. If none was validated, the newest. None: no such run, or no checkpoint yet.

    At its end the trainer compares the two in the same way (`finish` in transformer/training/run_ending.py).
    """
    folder = run_folder(run)
    if folder is None:
        return None
    average, best, last = (folder / f"{name}.safetensors" for name in ("average", "best", "last"))
    scores = {path: _goodness(str(path), modified(path)) for path in (average, best)}
    scored = [path for path, score in scores.items() if score is not None]
    path = max(scored, key=lambda path: scores[path] or 0.0) if scored else last
    try:
        return CheckpointFile.at(path, best_name(run))
    except OSError:
        return None


def is_of_run(checkpoint: str, run: str) -> bool:
    """Whether the checkpoint of this name is a snapshot of the run, its best checkpoint, or the one that has the name
    of the run in the list of checkpoints. For a run of the reader the last one must be the same model: the list may
    have another one of this name, such as `reverse`."""
    if checkpoint == run:
        return is_added(run) if run in own_run_names() else True
    return run in (run_of_best(checkpoint), *(run_and_update(checkpoint) or ()))


def is_added(run: str) -> bool:
    """Whether the list of checkpoints has the best checkpoint of the run under the name of the run."""
    added, best = checkpoints().get(run), best_checkpoint(run)
    if added is None or best is None or added.size != best.size:
        return False
    try:
        one, other = read_header(added.path), read_header(best.path)
    except (HeadlightError, OSError):
        return False
    return (one.recipe, one.metrics) == (other.recipe, other.metrics)


@st.cache_data(max_entries=256, show_spinner=False)
def _goodness(path: str, changed: int) -> float | None:
    """How well it translates the validation text, by the measure of its recipe; None if that is not known."""
    try:
        header = read_header(path)
    except (HeadlightError, OSError):
        return None
    recipe = stored_recipe(header.recipe)
    scores = {name.removeprefix("valid_"): value for name, value in header.metrics.items()}
    if recipe is None or type(scores.get(recipe.training.best_by)) not in (int, float):
        return None
    return goodness(scores, recipe)
