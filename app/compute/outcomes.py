"""What edits do: both models' translations, and the log-probabilities of the original one by the edited model."""

from dataclasses import dataclass

from app.compute import cached_results
from app.compute.compared import Compared
from app.compute.row_predictions import teacher_forced
from app.compute.subject import Subject
from transformer.config import DecodingConfig
from transformer.decoding.translation import Hypothesis, Translation


@dataclass(frozen=True)
class Outcome:
    """A sentence translated by a model, and by the same model with edits.

    Attributes:
        before: the best translation by the original model.
        after: the best one by the edited model.
        lost: for each token of `before`, its log-probability by the original model minus that by the edited model,
            which reads the same tokens before it and, as a step of decoding, no later ones. Above 0: less probable for
            the edited model.
    """

    before: Hypothesis
    after: Hypothesis
    lost: tuple[float, ...]

    @property
    def missing(self) -> tuple[bool, ...]:
        """For each token of `before`, whether it has no counterpart in `after`."""
        return self.compared.changed[0]

    @property
    def new(self) -> tuple[bool, ...]:
        """For each token of `after`, whether it has no counterpart in `before`."""
        return self.compared.changed[1]

    @property
    def compared(self) -> Compared:
        """Both translations, with what differs."""
        return Compared(self.before, self.after)


def outcome(subject: Subject, source: str, settings: DecodingConfig) -> Outcome:
    """What the edits of a subject change in the translation of a sentence.

    Args:
        source: one sentence, as the encoder reads it (`Translation.source`).

    Raises:
        TranslationError: one of the two models cannot translate it.
    """
    before, after = (cached_results.translate_one(each, source, settings) for each in (subject.original, subject))
    return outcome_of(subject, before, after.hypotheses[0])


def outcome_of(subject: Subject, translation: Translation, after: Hypothesis) -> Outcome:
    """As `outcome`, if both translations are known: `translation` by the original model, `after` by the edited one."""
    before = translation.hypotheses[0]
    read = teacher_forced(subject.as_in_steps, translation.source_ids, before.ids).log_probabilities.tolist()
    lost = tuple(own - edited for own, edited in zip(before.log_probabilities, read, strict=True))
    return Outcome(before, after, lost)
