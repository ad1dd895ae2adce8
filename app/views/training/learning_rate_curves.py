"""Learning rates as curves to draw: by equation 3 of the paper (section 5.3), and by a recipe."""

import numpy as np

from app.figures.training_curves import Curve
from app.languages import _
from transformer.config import TrainingConfig
from transformer.training.learning_rate import learning_rate

POINTS = 300


def rate_of_the_paper(run: str, place: int, warmup: int, d_model: int, last: int) -> Curve:
    """Equation 3 with this warm-up (at least 1) and d_model, for updates 1 to `last`."""
    what = _("equation 3 (warm-up {warmup:,})", warmup=warmup)
    return _curve(run, place, TrainingConfig(warmup=warmup), d_model, last, what)


def planned_rate(run: str, place: int, training: TrainingConfig, d_model: int) -> Curve:
    """What a recipe plans, from its first update to its last."""
    return _curve(run, place, training, d_model, training.updates, _("its recipe"))


def _curve(run: str, place: int, training: TrainingConfig, d_model: int, last: int, what: str) -> Curve:
    last = max(last, 2)
    even, early = np.linspace(1, last, POINTS).round(), np.geomspace(1, last, POINTS).round()
    peak = [min(max(training.warmup, 1), last)]
    updates = np.unique(np.concatenate([even, early, peak])).astype(np.int64)
    values = np.array([learning_rate(update, training, d_model) for update in updates.tolist()])
    return Curve(run, what, updates, values, place, "computed")
