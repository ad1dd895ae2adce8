"""What a window of self-attention costs (paper, section 4: "a neighborhood of size r"): how much less probable the
translation of the page becomes if each token attends only to tokens at most r positions away."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from app.compute import cached_results
from app.compute.cached_results import Ids
from app.compute.row_predictions import teacher_forced
from app.compute.subject import Subject
from app.library.families import shipped_members
from app.stage.scene import Scene
from transformer.analysis.edits import AttentionWindow, edit_text
from transformer.config import EOS, UNK
from transformer.decoding.translation import Hypothesis
from transformer.text.normalisation import clean

OPTION = "model.attention_window"
_SOME = (*range(17), 20, 24, 32, 48, 64, 96)  # each distance costs a pass, so not all are computed for a long sentence


@dataclass(frozen=True)
class Losses:
    """Changes of the log-probability of one translation, in nats.

    Attributes:
        distances: r, from 0; the last is so large that nothing changes.
        own: of the open model, restricted to each distance. small: the same of a small model; empty if there is none
            for this sentence.
        trained: of small models that were trained with a window, by its size; compared with `small` without a window.
    """

    distances: tuple[int, ...]
    own: tuple[float, ...]
    small: tuple[float, ...] = ()
    trained: tuple[tuple[int, float], ...] = ()


def unrestricted(subject: Subject) -> Subject:
    """The same model without edits that add a window."""
    return replace(subject, edits=tuple(edit for edit in subject.edits if not isinstance(edit, AttentionWindow)))


def window_losses(scene: Scene) -> Losses:
    """For the translation that the model writes without a window that an edit adds."""
    subject = unrestricted(scene.subject)
    best = scene.best(subject)
    sources = scene.translation.source_ids
    distances = _distances(sources, best.ids)
    own = _by_distance(subject, sources, best.ids, distances)
    members = {value: Subject(file) for value, file in shipped_members(OPTION, scene.task).items()}
    whole = members.pop(None, None)
    if whole is None or (whole.task.source, whole.task.target) != (scene.task.source, scene.task.target):
        return Losses(distances, own)
    read = _read(whole, scene.translation.source, best)
    if read is None:
        return Losses(distances, own)
    without = teacher_forced(whole, *read).score
    small = _by_distance(whole, *read, distances)
    trained = sorted((r, teacher_forced(each, *read).score - without) for r, each in members.items() if r in distances)
    return Losses(distances, own, small, tuple(trained))


def _distances(source_ids: Sequence[int], target_ids: Sequence[int]) -> tuple[int, ...]:
    most = max(len(source_ids), len(target_ids)) - 1
    return (*(r for r in _SOME if r < most), most)


def _by_distance(subject: Subject, source_ids: Ids, target_ids: Ids, distances: Sequence[int]) -> tuple[float, ...]:
    """The change under each window. A small model may need more tokens than the largest distance, so the unrestricted
    model is computed apart."""
    longest = max(len(source_ids), len(target_ids))
    texts = tuple(edit_text(AttentionWindow(r)) for r in (*distances, longest))
    scores: np.ndarray = cached_results.with_each_edit(subject, source_ids, target_ids, texts).sum(axis=-1)
    return tuple((scores[:-1] - scores[-1]).tolist())


def _read(subject: Subject, source: str, translation: Hypothesis) -> tuple[Ids, Ids] | None:
    """Source and translation as ids of a small model. None: it has no tokens for them, or too few positions."""
    translator = subject.translator
    target = translator.tokenizer.target.encode(clean(translation.text))
    found = translator.sources.read(source, translator.settings)
    if not target or UNK in target or not found.ids or found.problem or len(target) > translator.max_length:
        return None
    return tuple(found.ids), (*target, EOS)
