"""Two small models that were trained alike, one with the causal mask and one without it, on the sentence of the page.

In a training step each row of the decoder reads the right tokens so far and predicts the next. Without the mask it also
reads the token that it predicts, so the model learns to copy that token. When the model writes alone, there is nothing
to copy.
"""

from dataclasses import dataclass

import numpy as np

from app.compute import cached_results
from app.compute.cached_results import Ids
from app.compute.row_predictions import Predictions, teacher_forced
from app.compute.small_models import usable
from app.compute.subject import Subject
from app.library import checkpoints
from app.library.families import shipped_members
from app.library.limits import bounded
from app.library.tasks import language_name
from app.stage.scene import Scene
from app.views.shared.causal_picture import CAUSAL_MASK_OFF
from transformer.config import EOS, UNK
from transformer.decoding.translation import Hypothesis
from transformer.decoding.translator import Translator
from transformer.errors import HeadlightError
from transformer.text.normalisation import clean

OPTION = "model.causal_training"
# For models from English to German that cannot use the sentence and the translation of the page
PAIR = ("Where is the nearest train station?", "Wo ist der nächste Bahnhof?")


@dataclass(frozen=True)
class SmallModel:
    """What one of the two models does.

    Attributes:
        trained: the model, with the causal mask or without it, as in its training.
        source_ids: what its encoder reads.
        step: what `trained` predicts in a training step, where the decoder reads the target.
        alone: what the model writes alone.
    """

    trained: Subject
    source_ids: Ids
    step: Predictions
    alone: Hypothesis

    @property
    def probability(self) -> float:
        """The mean probability of the right token in `step`."""
        return float(np.exp(self.step.log_probabilities).mean())


@dataclass(frozen=True)
class SmallModels:
    """Both models on a source and a target; `is_own`: these are the sentence of the page and its translation."""

    source: str
    target: str
    is_own: bool
    masked: SmallModel
    unmasked: SmallModel


def small_mask_models_of(scene: Scene) -> SmallModels | None:
    """Both models on the first pair that they can read. None: they are not included, or can read no pair."""
    members = usable(shipped_members(OPTION, scene.task))
    if True not in members or False not in members:
        return None
    subjects = (members[True], members[False])
    for source, target, is_own in _pairs(scene, subjects[0]):
        try:
            masked, unmasked = (_small_model(subject, source, target) for subject in subjects)
        except HeadlightError:
            continue
        if masked and unmasked:
            return SmallModels(source, target, is_own, masked, unmasked)
    return None


def _pairs(scene: Scene, subject: Subject) -> list[tuple[str, str, bool]]:
    """Sources and targets to try, in order: those of the page, if they are in the two languages, and the example."""
    task, theirs = scene.task, subject.task
    source, target = scene.translation.sentence, scene.hypothesis.text
    of_pair = (language_name("en"), language_name("de"))
    found = [(*PAIR, False)] if (theirs.source, theirs.target) == of_pair else []
    if (task.source, task.target) == (theirs.source, theirs.target):
        found.insert(0, (source, target, True))
    elif (task.target, task.source) == (theirs.source, theirs.target):
        found.insert(0, (target, source, False))
    return found


def _small_model(subject: Subject, source: str, target: str) -> SmallModel | None:
    """One model on a pair. None: it has no tokens for the sentences, or too few positions. May raise HeadlightError."""
    translator = subject.translator
    ids = _ids(translator, target)
    if not source.strip() or not checkpoints.fits(subject.file, source) or ids is None:
        return None
    settings = bounded(translator.settings)
    found = cached_results.translate_one(subject, source, settings)
    trained = subject if translator.model.config.causal_training else subject.edited(CAUSAL_MASK_OFF)
    return SmallModel(trained, found.source_ids, teacher_forced(trained, found.source_ids, ids), found.hypotheses[0])


def _ids(translator: Translator, target: str) -> tuple[int, ...] | None:
    ids = translator.tokenizer.target.encode(clean(target))
    if not ids or UNK in ids or len(ids) >= translator.model.config.max_positions:
        return None
    return (*ids, EOS)
