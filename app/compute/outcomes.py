"""What edits do to a translation: the original one, what the edited model writes, and how it scores the original."""

from dataclasses import dataclass, replace

from app.compute import cached_results
from app.compute.compared import Compared
from app.compute.row_predictions import forced
from app.compute.subject import Subject
from transformer.config import DecodingConfig
from transformer.decoding.translation import Hypothesis


@dataclass(frozen=True)
class Outcome:
    """A sentence translated by a model and by another one, which is mostly the same with edits.

    Attributes:
        before: the best translation by the first model.
        after: the best one by the other.
        lost: by token of `before`, its log-probability by the first model less that by the other, which reads the same
            tokens before it (teacher forcing); above 0 where the other finds the token less probable.
    """

    before: Hypothesis
    after: Hypothesis
    lost: tuple[float, ...]

    @property
    def missing(self) -> tuple[bool, ...]:
        """By token of `before`, whether `after` has none for it."""
        return self._compared.changed[0]

    @property
    def new(self) -> tuple[bool, ...]:
        """By token of `after`, whether `before` has none for it."""
        return self._compared.changed[1]

    @property
    def parts_at(self) -> int | None:
        """The first step at which the two are different, from 0; None: they are equal."""
        return self._compared.parts_at

    @property
    def _compared(self) -> Compared:
        return Compared(self.before, self.after)


def outcome(subject: Subject, source: str, settings: DecodingConfig, other: Subject | None = None) -> Outcome:
    """What the edits of a subject change in the translation of a sentence.

    Args:
        source: one sentence, as the encoder reads it (`Translation.source`).
        other: what it is compared with; without, the unedited model of the same file.

    Raises:
        TranslationError: one of the two cannot translate it.
    """
    settings = replace(settings, n_best=1)
    first = other or subject.original
    translation = cached_results.translate_one(first, source, settings)
    before = translation.hypotheses[0]
    after = cached_results.translate_one(subject, source, settings).hypotheses[0]
    read = forced(subject, translation.source_ids, before.ids).log_probabilities.tolist()
    lost = tuple(own - edited for own, edited in zip(before.log_probabilities, read, strict=True))
    return Outcome(before, after, lost)
