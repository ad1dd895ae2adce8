"""Translations of a sentence in order and shuffled: by a model as it is, by the same model without positions, and by
a model that was trained without positions."""

from dataclasses import dataclass, replace

from app.components.comparison import Cell, Row
from app.compute import cached_results
from app.compute.cached_results import Ids
from app.compute.small_models import usable
from app.compute.subject import Subject
from app.languages import _
from app.library import checkpoints
from app.library.families import shipped_members
from app.stage.scene import Scene
from app.views.shared.word_orders import Moved, Order, moved, reordered, sentence_of, shuffled
from transformer.analysis.edits import PositionsOff
from transformer.config import EOS, DecodingConfig
from transformer.decoding.translation import Hypothesis
from transformer.errors import HeadlightError

SEEDS = 4  # at most so many shuffles are tried to find one that changes the translation
MOST_DRAWN = 20  # at most so many shuffles are drawn to find another order
WITHOUT = PositionsOff("encoder")


@dataclass(frozen=True)
class Pair:
    """The translations of both orders by one model."""

    plain: Hypothesis
    other: Hypothesis

    @property
    def same(self) -> bool:
        return self.plain.ids == self.other.ids

    def row(self, label: str) -> Row:
        """For `app.components.comparison`: in order, shuffled."""
        note = _("the same, token by token") if self.same else _("another translation")
        return Row(label, (Cell(self.plain.text or _("(nothing)")), Cell(self.other.text or _("(nothing)"), note)))


def both_orders(subject: Subject, source_ids: Ids, other_ids: Ids, settings: DecodingConfig) -> Pair:
    """Translates both orders. Sampling could make the translations differ by chance, so greedy decoding replaces it."""
    settings = replace(settings, n_best=1)
    if settings.method == "sampling":
        settings = replace(settings, method="greedy")
    plain, other = (cached_results.translate_ids(subject, ids, settings) for ids in (source_ids, other_ids))
    return Pair(plain, other)


def first_seed(scene: Scene) -> int:
    """The seed of the order that the page opens with: the first from 1 to `SEEDS` that changes the translation, or 1
    if none does."""
    ids, settings = scene.translation.source_ids, scene.translation.settings
    for seed in range(1, SEEDS + 1):
        order = shuffled(scene.source.tokens, seed)
        if order is None:
            break
        found = both_orders(scene.subject, ids, reordered(ids, order), settings)
        if found.plain.ids != found.other.ids:
            return seed
    return 1


def next_seed(scene: Scene, seed: int) -> int:
    """The next seed that gives another order than `seed`; `seed` itself if none of the next `MOST_DRAWN` does. The
    order of the sentence itself is never drawn (see `shuffled`)."""
    tokens, ids = scene.source.tokens, scene.translation.source_ids

    def read(number: int) -> Ids | None:
        order = shuffled(tokens, number)
        return order and reordered(ids, order)

    now = read(seed)
    return next((other for other in range(seed + 1, seed + MOST_DRAWN + 1) if read(other) != now), seed)


@dataclass(frozen=True)
class TrainedWithout:
    """What a small model, trained without positions, does with the sentence of the page. It has its own tokenizer."""

    subject: Subject
    ids: Ids
    order: Order
    pair: Pair

    @property
    def sentence(self) -> str:
        """The shuffled sentence that it read."""
        return sentence_of(reordered(self.ids, self.order), self.subject.translator)

    @property
    def moved(self) -> Moved:
        """How far apart the outputs of its encoder are for the two orders."""
        return moved(self.subject, self.ids, self.pair.plain.ids, self.order)


def trained_without(scene: Scene, seed: int) -> TrainedWithout | None:
    """What the small model does with the sentence and with its words shuffled by the seed.

    None: no such model is included, it is the open one, its languages are others, the sentence is too long for it or
    cannot be shuffled, or it cannot be used.
    """
    file, source = shipped_members("model.positions", scene.task).get("none"), scene.translation.sentence
    if file is None or file.path == scene.subject.file.path:
        return None
    subject = usable({"none": file}).get("none")
    if subject is None:
        return None
    try:
        if (subject.task.source, subject.task.target) != (scene.task.source, scene.task.target):
            return None
        translator = subject.translator
        if not checkpoints.fits(subject.file, source):
            return None
        ids = (*translator.tokenizer.encode(source), EOS)
        order = shuffled([translator.tokenizer.token(id) for id in ids], seed)
        if order is None:
            return None
        return TrainedWithout(
            subject, ids, order, both_orders(subject, ids, reordered(ids, order), translator.settings)
        )
    except HeadlightError:
        return None
