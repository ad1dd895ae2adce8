"""The end of a run: the average of its last checkpoints (section 6.1), and whether that or the best single checkpoint
is the one to use.

The best single checkpoint is the best of many on the sentences that each validation translates, so its score on these
is too good. With translations to compare, both are therefore scored again, on up to `COMPARED` sentences.
"""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from transformer.checkpoint.checkpoint_file import TrainedModel, load_checkpoint, save_checkpoint
from transformer.config import OF_TRANSLATIONS
from transformer.errors import TrainingError
from transformer.training.run_folder import Run
from transformer.training.run_report import Report, ending
from transformer.training.training import Training
from transformer.training.validation_schedule import goodness

COMPARED: Final = 2_000  # validation sentences, if the text has so many


def finish(training: Training, run: Run, report: Report, stop: Callable[[], bool]) -> Path:
    """Averages the last checkpoints, and says which of average and best to use.

    Raises:
        Interrupted: a signal stops the run; resuming repeats this.
        TrainingError: there is nothing to average.
    """
    settings, progress = training.recipe.training, training.progress
    if progress.update < settings.updates:
        report.say(f"No better {settings.best_by} in {settings.patience} validations.")
    taken = run.recent()[-settings.average_last :]  # the recipe may ask for fewer now
    if not taken:
        raise TrainingError(
            f"The run is finished, but its last checkpoints, which are averaged, are not in {run.folder} any more. Put "
            f"them back and give the command again, or use {run.path('best')}."
        )
    sentences = _compared_sentences(training)
    averaged = load_checkpoint(run.average(taken), training.device)
    scores = training.evaluate(averaged.model, stop, sentences)
    metrics = run.metrics(training, scores) | {"averaged": [path.name for path in taken]}
    _store(run.path("average"), replace(training.trained(metrics), model=averaged.model), training)
    average, best = goodness(scores, training.recipe), progress.best
    if best is not None and sentences > settings.validation_sentences:
        best = _scored_again(training, run.path("best"), stop, sentences)
    chosen = run.path("average" if best is None or average >= best else "best")
    report.say(ending(training, len(taken), (average, best), sentences, chosen))
    return chosen


def _compared_sentences(training: Training) -> int:
    """How many different sentences are translated to compare the two. Without translations, as in a validation."""
    settings = training.recipe.training
    if settings.best_by not in OF_TRANSLATIONS:
        return settings.validation_sentences
    return min(len({source for source, _ in training.text.pairs}), max(settings.validation_sentences, COMPARED))


def _scored_again(training: Training, path: Path, stop: Callable[[], bool], sentences: int) -> float | None:
    """The `goodness` of a checkpoint on so many sentences, which is also stored in it. None: the file is gone."""
    if not path.exists():
        return None
    found = load_checkpoint(path, training.device)
    scores = training.evaluate(found.model, stop, sentences)
    metrics: dict[str, Any] = found.metrics | {f"valid_{score}": value for score, value in scores.items()}
    _store(path, TrainedModel(found.model, found.tokenizer, found.recipe, metrics, found.words), training)
    return goodness(scores, training.recipe)


def _store(path: Path, trained: TrainedModel, training: Training) -> None:
    save_checkpoint(path, trained, half=training.recipe.training.half)
