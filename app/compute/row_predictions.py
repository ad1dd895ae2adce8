"""What a model predicts in one teacher-forced pass, as in a training step: the decoder reads a given translation, and
each row predicts the next token (paper, section 3.1).
"""

from dataclasses import dataclass

import numpy as np

from app.compute import cached_results
from app.compute.cached_results import Ids
from app.compute.subject import Subject
from app.figures.softmax import log_softmax


@dataclass(frozen=True)
class Predictions:
    """The predictions for a target of T tokens, </s> included.

    Attributes:
        log_probabilities: of the right token in each row, (T) float64.
        first: the id that each row ranks first, (T).
        right: whether `first` is the right token, (T).
    """

    log_probabilities: np.ndarray
    first: np.ndarray
    right: np.ndarray

    @property
    def score(self) -> float:
        """The log-probability of the whole target."""
        return float(self.log_probabilities.sum())


def predictions(logits: np.ndarray, target_ids: Ids) -> Predictions:
    """The predictions that follow from logits (T, V)."""
    ids, first = np.array(target_ids), logits.argmax(axis=-1)
    return Predictions(log_softmax(logits)[np.arange(len(ids)), ids], first, first == ids)


def teacher_forced(subject: Subject, source_ids: Ids, target_ids: Ids) -> Predictions:
    """The predictions of one pass; the pass itself is cached."""
    return predictions(cached_results.record(subject, source_ids, target_ids, ("logits",))["logits"], target_ids)
