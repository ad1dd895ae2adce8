"""What a window of self-attention costs (paper, section 4: "a neighborhood of size r"): how much less probable the
translation of the page becomes if each token attends only to tokens at most r positions away."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from app.compute import cached_results
from app.compute.cached_results import Ids
from app.compute.row_predictions import teacher_forced
from app.compute.small_models import usable
from app.compute.subject import Subject
from app.library.families import shipped_members
from app.stage.scene import Scene
from transformer.analysis.edits import AttentionWindow, edit_text
from transformer.config import EOS, UNK
from transformer.decoding.translation import Hypothesis
from transformer.errors import HeadlightError
from transformer.text.normalisation import clean

OPTION = "model.attention_window"
_SOME = (*range(17), 20, 24, 32, 48, 64, 96)  # each distance costs a pass, so not all are computed for a long sentence


@dataclass(frozen=True)
class Changes:
    """Changes of the log-probability of one translation, in nats; below 0 where something is lost.

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


def window_changes(scene: Scene) -> Changes:
    """For the best translation that the model writes without a window that an edit adds."""
    subject = unrestricted(scene.subject)
    best = scene.best(subject)
    sources = scene.translation.source_ids
    distances = _distances(sources, best.ids)
    own = _by_distance(subject, sources, best.ids, distances)
    try:
        return Changes(distances, own, *_of_small_models(scene, best, distances))
    except (HeadlightError, OSError):  # they cannot read the sentence, or a file is gone
        return Changes(distances, own)


def _of_small_models(
    scene: Scene, best: Hypothesis, distances: Sequence[int]
) -> tuple[tuple[float, ...], tuple[tuple[int, float], ...]]:
    """`small` and `trained`. Empty if no small model is included, its languages are others, it is the open one, or it
    cannot read the sentence or its translation."""
    files = shipped_members(OPTION, scene.task)
    if None not in files or files[None].path == scene.subject.file.path:
        return (), ()
    members = usable(files)
    whole = members.pop(None, None)
    if whole is None:
        return (), ()
    if (whole.task.source, whole.task.target) != (scene.task.source, scene.task.target):
        return (), ()
    read = _read(whole, scene.translation.sentence, best)
    if read is None:
        return (), ()
    without = teacher_forced(whole, *read).score
    windows = sorted((r, each) for r, each in members.items() if isinstance(r, int) and r in distances)
    trained = [(r, teacher_forced(each, *read).score - without) for r, each in windows]
    return _by_distance(whole, *read, distances), tuple(trained)


def _distances(source_ids: Sequence[int], target_ids: Sequence[int]) -> tuple[int, ...]:
    most = max(len(source_ids), len(target_ids)) - 1
    return (*(r for r in _SOME if r < most), most)


def _by_distance(subject: Subject, source_ids: Ids, target_ids: Ids, distances: Sequence[int]) -> tuple[float, ...]:
    """The change under each window. (Trap: `with_each_edit` makes its edits after those of the subject, but a window
    comes before the cells of a mask. Test: test_a_cell_that_an_edit_allows_stays_allowed_in_the_changes.)"""
    longest = max(len(source_ids), len(target_ids))  # a small model may need more tokens than the largest distance
    windows = [AttentionWindow(r) for r in (*distances, longest)]
    if subject.edits:
        passes = [teacher_forced(subject.edited(window), source_ids, target_ids).score for window in windows]
    else:
        texts = tuple(map(edit_text, windows))
        passes = cached_results.with_each_edit(subject, source_ids, target_ids, texts).sum(axis=-1).tolist()
    return tuple(each - passes[-1] for each in passes[:-1])


def _read(subject: Subject, source: str, translation: Hypothesis) -> tuple[Ids, Ids] | None:
    """Source and translation as ids of a small model. None: it has no tokens for them, or too few positions."""
    translator = subject.translator
    target = translator.tokenizer.target.encode(clean(translation.text))
    found = translator.sources.read(source, translator.settings)
    if not target or UNK in target or not found.ids or found.problem or len(target) > translator.max_length:
        return None
    return tuple(found.ids), (*target, EOS)
