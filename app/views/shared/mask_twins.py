"""Two small models that were trained alike, one with the causal mask and one without it, on the sentence of the page.

In a training step each row of the decoder reads the right tokens so far and predicts the next. Without the mask it also
reads the one that it predicts, so it learns to copy it; writing alone there is nothing to copy.
"""

from dataclasses import dataclass

import numpy as np

from app.compute import cached_results
from app.compute.cached_results import Ids
from app.compute.row_predictions import Predictions, forced
from app.compute.subject import Subject
from app.library import checkpoints
from app.library.families import shipped_members
from app.library.limits import bounded
from app.library.tasks import language_name
from app.stage.scene import Scene
from app.views.shared.causal_picture import FREE
from transformer.config import EOS, UNK
from transformer.decoding.translation import Hypothesis
from transformer.decoding.translator import Translator
from transformer.errors import HeadlightError
from transformer.text.normalisation import clean

OPTION = "model.causal_training"
PAIR = ("Where is the nearest train station?", "Wo ist der nächste Bahnhof?")  # where the scene has none for them


@dataclass(frozen=True)
class Twin:
    """What one of the two does.

    Attributes:
        trained: with the mask, or without, as it was trained. source_ids: what it reads.
        step: its predictions in a training step, with the mask or without, as it was trained.
        alone: what it writes alone.
    """

    trained: Subject
    source_ids: Ids
    step: Predictions
    alone: Hypothesis

    @property
    def probability(self) -> float:
        """Of the right token, on average."""
        return float(np.exp(self.step.log_probabilities).mean())


@dataclass(frozen=True)
class Twins:
    """Both, on a source and a target; `is_own`: these are the sentence of the page and its translation."""

    source: str
    target: str
    is_own: bool
    masked: Twin
    free: Twin


def twins(scene: Scene) -> Twins | None:
    """None: the two models are not included, or cannot read the sentence."""
    files = shipped_members(OPTION, scene.task)
    if True not in files or False not in files:
        return None
    subjects = (Subject(files[True]), Subject(files[False]))
    for source, target, is_own in _pairs(scene, subjects[0]):
        try:
            masked, free = (_twin(subject, source, target) for subject in subjects)
        except HeadlightError:
            continue
        if masked and free:
            return Twins(source, target, is_own, masked, free)
    return None


def _pairs(scene: Scene, subject: Subject) -> list[tuple[str, str, bool]]:
    """Sources and targets to try, in order: those of the page, if they are in the two languages, and the example."""
    task, theirs = scene.task, subject.task
    source, target = scene.translation.source, scene.hypothesis.text
    of_pair = (language_name("en"), language_name("de"))
    found = [(*PAIR, False)] if (theirs.source, theirs.target) == of_pair else []
    if (task.source, task.target) == (theirs.source, theirs.target):
        found.insert(0, (source, target, True))
    elif (task.target, task.source) == (theirs.source, theirs.target):
        found.insert(0, (target, source, True))
    return found


def _twin(subject: Subject, source: str, target: str) -> Twin | None:
    """None: it has no tokens for these sentences, or too few positions. Raises HeadlightError, too."""
    translator = subject.translator
    longest, _ = checkpoints.pieces_needed(subject.file, source)
    ids = _ids(translator, target)
    if not source.strip() or longest > checkpoints.most_pieces(translator) or ids is None:
        return None
    settings = bounded(translator.settings)
    found = cached_results.translate_one(subject, source, settings)
    trained = subject if translator.model.config.causal_training else subject.edited(FREE)
    return Twin(trained, found.source_ids, forced(trained, found.source_ids, ids), found.hypotheses[0])


def _ids(translator: Translator, target: str) -> tuple[int, ...] | None:
    ids = translator.tokenizer.target.encode(clean(target))
    if not ids or UNK in ids or len(ids) >= translator.model.config.max_positions:
        return None
    return (*ids, EOS)
