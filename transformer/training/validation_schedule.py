"""When a run is validated, by which score it is judged, and when it is over: after all its updates, or, with
`training.patience`, once so many validations running have brought no better score."""

from transformer.config import Recipe, TrainingConfig
from transformer.training.training_state import Progress


def validation_is_due(progress: Progress, settings: TrainingConfig) -> bool:
    """Every so many updates, and after the last; once at each."""
    update = progress.update
    return progress.validated < update and (update % settings.validate_every == 0 or update >= settings.updates)


def is_finished(progress: Progress, settings: TrainingConfig) -> bool:
    """All updates are made, or the score has not become better for `patience` validations."""
    impatient = bool(settings.patience) and progress.without_improvement >= settings.patience
    return impatient or progress.update >= settings.updates


def goodness(scores: dict[str, float | str], recipe: Recipe) -> float:
    """The score that decides, turned so that more is better."""
    value = float(scores[recipe.training.best_by])
    return -value if recipe.training.best_by == "loss" else value
