"""The folder of a run: its files, and whether a run may be started or resumed in it.

best.safetensors        the checkpoint with the best validation score
last.safetensors        the newest, with scores only if it was validated
average.safetensors     the mean of the last few (paper, section 6.1), made at the end
training.safetensors    what resuming needs (training_state.py)
best/                   the `training.keep_best` best ones, if that is more than one
recent/                 the checkpoints that the average is made of
snapshots/              small checkpoints of early and late updates, to see how the model learnt
tokenizer.model  metrics.jsonl  tensorboard/
recipe.toml             all options of the run (run_recipe.py)
prepared/  corpus.json  the prepared training text, and counts of its pairs (not for toys); back-translated sources
corpus-files.json       its files, with SHA-256 sums;  aside/  the pairs that a mix keeps aside
.lock                   locked by the process that trains; contains its process id
"""

import logging
import math
import os
from contextlib import ExitStack
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Self

from torch.optim import AdamW

from transformer.checkpoint.averaging import average_checkpoints
from transformer.checkpoint.checkpoint_file import save_checkpoint
from transformer.checkpoint.header import read_header
from transformer.config import Recipe
from transformer.data.training_data import TrainingData
from transformer.errors import Busy, TrainingError
from transformer.files.atomic_write import LOCK, lock
from transformer.files.untrusted_values import finite_number, shown
from transformer.model import Transformer
from transformer.text.pair_tokenizer import read_tokenizer_file
from transformer.text.tokenizer import Tokenizer
from transformer.training.resume_check import differences
from transformer.training.run_recipe import check_name, keep_recipe, resume_command
from transformer.training.training import Training
from transformer.training.training_state import Progress, load_state, read_progress, save_state

log = logging.getLogger(__name__)

STATE, KEPT = "training.safetensors", ("best", "last", "average")
ELSEWHERE = "Start a new run in another --run-dir."


class Run:
    """One training run on disk: `with Run(folder, resume) as run`, for one process at a time.

    Raises:
        TrainingError: the folder has a run and `resume` is false, or it (or its state) is missing and `resume` is true;
            its vocabulary is not of a run; its name has a line break. On entering: it is in use, or not writable.
    """

    def __init__(self, folder: Path, resume: bool):
        check_name(folder)
        self.folder, self.state = folder, folder / STATE
        kept = (self.state, *map(self.path, KEPT), *self.recent(), *self.best(), *self.snapshots())
        held = [path for path in kept if path.exists()]
        if resume and not folder.is_dir():
            raise TrainingError(f"There is no folder {folder} to resume from. Name the folder of a run.")
        if resume and held and not self.state.exists():
            raise TrainingError(f"There is nothing to resume in {folder}: {self.state.name} is missing. {ELSEWHERE}")
        if held and not resume:
            raise TrainingError(
                f"{folder} already has a run. Choose another folder with --run-dir, or continue it with --resume: "
                f"{resume_command(folder)}"
            )
        self._vocabulary, self._locked = folder / "tokenizer.model", folder / LOCK
        if self._vocabulary.exists() and not held and not self._locked.exists():
            raise TrainingError(
                f"{self._vocabulary} is not of a run, and a run would write its own vocabulary there. Move it and "
                "name its new path by tokenizer.model, or choose another folder with --run-dir."
            )
        self.corpus: dict[str, Any] = {}  # facts about the training text, for the metrics of each checkpoint
        self.resumed = self.state.exists()  # a run that was killed before its first save starts again

    def __enter__(self) -> Self:
        try:
            with ExitStack() as opened:  # closes the file if something fails
                self.folder.mkdir(parents=True, exist_ok=True)
                self._lock = opened.enter_context(self._locked.open("a"))
                lock(self._lock)
                self._lock.truncate(0)
                print(os.getpid(), file=self._lock, flush=True)
                places = (self.folder, *(self.folder / name for name in ("recent", "best", "snapshots")))
                for left_over in [path for place in places for path in place.glob(".*.tmp")]:
                    left_over.unlink(missing_ok=True)
                opened.pop_all()
        except BlockingIOError:
            raise Busy(
                f"Another process is training in {self.folder}. Wait for it or stop it, or choose another --run-dir."
            ) from None
        except OSError as error:
            raise TrainingError(
                f"The run's folder {self.folder} cannot be written to: {error.strerror or error} "
                f"({error.filename or self._locked}). Correct that, or choose another --run-dir."
            ) from None
        return self

    def __exit__(self, *_: object) -> None:
        self._lock.close()

    def tokenizer(self) -> Tokenizer | None:
        """The vocabulary of a run that is resumed. None for a run that was killed before its first save: the command
        may name another vocabulary now."""
        there = self.resumed and self._vocabulary.exists()
        return read_tokenizer_file(self._vocabulary) if there else None

    def restore(
        self, recipe: Recipe, model: Transformer, optimizer: AdamW, data: TrainingData, computed_in: str
    ) -> Progress:
        """Restores weights and moments, and returns the progress of the run; that of a new run is at update 0.

        If its validations were scored differently before, its best score is forgotten: scores cannot be compared.
        """
        corpus, judged_by = data.fingerprint, data.judged_by
        if not self.resumed:
            return Progress(corpus=corpus, judged_by=judged_by, computed_in=computed_in)
        progress, started_with = read_progress(self.state)
        differing = differences(started_with, recipe)
        if differing:
            raise TrainingError(
                f"The run in {self.folder} was started with other settings:\n"
                + "\n".join(f"  {line}" for line in differing)
                + f"\nResume with the recipe it was started with. {ELSEWHERE}"
            )
        if progress.corpus != corpus:
            raise TrainingError(
                f"The training text is not what the run in {self.folder} was started with (then {progress.corpus}, now "
                f"{corpus}). Give it the same text (and data.back_translator, if it has one), or start a new run in "
                "another --run-dir."
            )
        load_state(self.state, model, optimizer, progress.update)
        for path in [*self.recent(), *self.best(), *self.snapshots()]:  # what is newer will be written again
            if int(path.stem) > progress.update:
                path.unlink()
        if progress.judged_by not in ("", judged_by):  # "": an old state, which does not say this
            log.warning("Validations are scored differently than before: the best score starts again.")
            progress.best, progress.best_update, progress.kept_update, progress.without_improvement = None, 0, 0, 0
            for path in self.best():
                path.unlink()
            progress.validated = min(progress.validated, max(progress.update - 1, 0))  # validates this update again
        if progress.computed_in not in ("", computed_in):  # "": as above
            log.warning(
                "Computed in %s until now, and from here on in %s: the run continues, but not to the same bits.",
                shown(progress.computed_in),
                computed_in,
            )
        progress.judged_by, progress.computed_in = judged_by, computed_in
        keep_recipe(self.folder, recipe)
        return progress

    def save(self, training: Training) -> None:
        """Writes the newest checkpoint, then the state: if writing the state fails, only the checkpoint is newer.

        Before the first update it writes only the state: a checkpoint is always of a model that was trained.
        """
        if training.progress.update:
            self.checkpoint("last", training)
        save_state(self.state, training.model, training.optimizer, training.progress, asdict(training.recipe))

    def path(self, name: str) -> Path:
        """Where the checkpoint of this name is stored: "best", "last", "average"."""
        return self.folder / f"{name}.safetensors"

    def checkpoint(self, name: str, training: Training) -> None:
        """Writes a checkpoint of the training as it is now, with its scores if it was validated."""
        save_checkpoint(self.path(name), training.trained(self.metrics(training)), half=training.recipe.training.half)

    def metrics(self, training: Training, scores: dict[str, float | str] | None = None) -> dict[str, Any]:
        """`scores`: of the model. None: those of the last validation, if it was after this update."""
        progress = training.progress
        if scores is None:
            scores = progress.scores if progress.validated == progress.update else {}
        return {
            "update": progress.update,
            "target_tokens": progress.tokens,
            "seconds": round(progress.seconds, 1),
            **{f"valid_{score}": value for score, value in scores.items()},
            **self.corpus,
        }

    def keep_best(self, training: Training, kept: bool) -> None:
        """Called after a validation. Keeps this checkpoint as "best" if it is `kept`, and in best/ if its score is
        one of the `keep_best` best scores. Of two checkpoints with the same score, the earlier one is better."""
        if kept:
            self.checkpoint("best", training)
        settings = training.recipe.training
        if settings.keep_best == 1:
            return
        self.checkpoint(f"best/{training.progress.update:08d}", training)
        better = -1.0 if settings.best_by == "loss" else 1.0

        def rank(path: Path) -> tuple[float, int]:
            score = finite_number(read_header(path).metrics.get(f"valid_{settings.best_by}"))
            return (-math.inf if score is None else better * score), -int(path.stem)

        for path in sorted(self.best(), key=rank)[: -settings.keep_best]:
            path.unlink()

    def best(self) -> list[Path]:
        """The best checkpoints, the oldest first; none if only one is kept."""
        return _by_update(self.folder / "best")

    def keep_recent(self, training: Training) -> None:
        """Keeps this checkpoint for the average, and deletes the oldest beyond `average_last`."""
        self.checkpoint(f"recent/{training.progress.update:08d}", training)
        for path in self.recent()[: -training.recipe.training.average_last]:
            path.unlink()

    def recent(self) -> list[Path]:
        """The checkpoints that the average is made of, the oldest first."""
        return _by_update(self.folder / "recent")

    def snapshot(self, training: Training) -> None:
        """Writes a snapshot, if this update is one of `training.snapshots`."""
        progress, name = training.progress, f"snapshots/{training.progress.update:08d}"
        if progress.update in training.recipe.training.snapshots and not self.path(name).exists():
            save_checkpoint(self.path(name), replace(training.trained(self.metrics(training)), words=None), half=True)

    def snapshots(self) -> list[Path]:
        """The snapshots, the oldest first."""
        return _by_update(self.folder / "snapshots")

    def average(self, checkpoints: list[Path]) -> Path:
        """Writes the mean of these checkpoints."""
        path = self.path("average")
        average_checkpoints(path, checkpoints)
        return path


def _by_update(folder: Path) -> list[Path]:
    """The checkpoints whose names are numbers of updates; other files are ignored."""
    return sorted(path for path in folder.glob("*.safetensors") if path.stem.isdigit())


def fit_vocabulary(recipe: Recipe, tokenizer: Tokenizer) -> Recipe:
    """The recipe with the real size of the vocabulary: a small corpus gives fewer tokens than the recipe asks for."""
    return replace(recipe, model=replace(recipe.model, vocab_size=tokenizer.vocab_size))
