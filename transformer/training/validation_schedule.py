"""When a run is validated, which score compares its checkpoints, and when the run ends: after all its updates or, with
`training.patience`, after that many validations in a row without a better score.

`Training.validate` counts these validations. Validations during the warm-up do not count: BLEU is about 0 then.
"""

from typing import Final

from transformer.config import Recipe, TrainingConfig
from transformer.training.training_state import Progress

# Of two checkpoints whose scores differ by no more than this, the later one is kept: such a difference may be chance,
# and while the learning rate falls, later weights are better. On 10,042 validation tokens of own-text, the standard
# error of the difference of two late checkpoints is 0.001. In one run the last checkpoint has 0.7 BLEU more than the
# most accurate one, whose accuracy is 0.001 higher (pretrained/EXPERIMENTS.md).
AS_GOOD: Final = {"accuracy": 0.002}


def validation_is_due(progress: Progress, settings: TrainingConfig) -> bool:
    """Every `validate_every` updates and after the last one; once per update."""
    update = progress.update
    return progress.validated < update and (update % settings.validate_every == 0 or update >= settings.updates)


def is_finished(progress: Progress, settings: TrainingConfig) -> bool:
    """All updates are made, or the score has not improved for `patience` validations."""
    impatient = bool(settings.patience) and progress.without_improvement >= settings.patience
    return impatient or progress.update >= settings.updates


def is_as_good(value: float, best: float, recipe: Recipe) -> bool:
    """Whether a checkpoint with this `goodness` is kept in the place of an earlier one with the goodness `best`."""
    same = AS_GOOD.get(recipe.training.best_by)
    return value > best or (same is not None and value >= best - same)


def goodness(scores: dict[str, float | str], recipe: Recipe) -> float:
    """The score that `training.best_by` names; the loss is negated, so that larger is better."""
    value = float(scores[recipe.training.best_by])
    return -value if recipe.training.best_by == "loss" else value
