"""Signs that a translation is a guess, in words for a visitor who knows little about the model.

The thresholds, and what was measured to choose them, are in `transformer.analysis.guesses` and
`app.library.vocabularies`.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from app.compute.subject import Subject
from app.figures.shares import Share
from app.languages import _, ngettext
from app.library.catalogue import entry
from app.library.checkpoints import CheckpointFile
from app.library.tasks import language_name
from app.library.vocabularies import language_of, reader_of, vocabularies
from transformer.analysis.guesses import (
    IMPROBABLE,
    certainty,
    missing_names,
    missing_numbers,
)
from transformer.decoding.translation import Hypothesis, Translation

MOST_QUOTED = 3  # words


@dataclass(frozen=True)
class Guess:
    """One sign that a translation is a guess.

    Attributes:
        title: the sign in a few words.
        of_the_sentence: the title on pages that show more than this sentence; "" unless `is_other_language`.
        says: the reason, with numbers.
        is_other_language: the sentence is not in the language that the model reads.
        reader: another checkpoint, which reads the language of the sentence.
    """

    title: str
    says: str
    is_other_language: bool = False
    reader: CheckpointFile | None = None
    of_the_sentence: str = ""


def guesses(subject: Subject, translation: Translation, hypothesis: Hypothesis) -> tuple[Guess, ...]:
    """The signs for a translation that the model found itself, the most helpful first.

    For a sentence in another language there is only that sign: the others follow from it.
    """
    text, mean = translation.sentence, certainty(hypothesis.log_probabilities)
    source = entry(subject.file).languages[0]
    found: list[Guess] = []
    missing: list[str] = []
    if other := other_language(subject, translation, hypothesis):
        return (other,)
    if source:  # a toy task may well write other numbers
        missing = [*missing_names(text, hypothesis.text, source), *missing_numbers(text, hypothesis.text)]
    if missing:
        found.append(
            Guess(
                ngettext(
                    "{words} is not in the translation",
                    "{words} are not in the translation",
                    len(missing),
                    words=_quoted(missing),
                ),
                _(
                    "Names and numbers usually stay the same in a translation. The model splits rare ones into small "
                    "tokens and may write something else."
                ),
            )
        )
    if mean < IMPROBABLE and translation.settings.method != "sampling":
        found.append(
            Guess(
                _("The model is guessing: its tokens have a probability of {mean:.0%} on average", mean=Share(mean)),
                _(
                    "This is the geometric mean of the probabilities of the chosen tokens. The included models have "
                    "less than {least:.0%} for 1% to 6% of everyday sentences, and most of those are translated "
                    "wrongly.",
                    least=IMPROBABLE,
                ),
            )
        )
    return tuple(found)


def other_language(subject: Subject, translation: Translation, hypothesis: Hypothesis) -> Guess | None:
    """The sign that the sentence is not in the language that the model reads; None if there is no such sign."""
    source, target = entry(subject.file).languages
    if not source:
        return None
    mean, copied_into = certainty(hypothesis.log_probabilities), target if hypothesis.text == translation.source else ""
    code = language_of(translation.source, source, mean, vocabularies(), copied_into)
    return None if code is None else _other_language(code, source, is_copy=bool(code) and code == copied_into)


def _other_language(code: str, source: str, *, is_copy: bool) -> Guess:
    """
    Args:
        code: of the language of the sentence; "" if it is unknown.
        is_copy: whether the translation equals the sentence.
    """
    own, other = language_name(source), language_name(code)
    if not code:
        says = _("No vocabulary here contains these words, and this model reads only {own}.", own=own)
        yours = _("Your sentence does not look like {language}", language=own)
        return Guess(_("This does not look like {language}", language=own), says, True, of_the_sentence=yours)
    reader = reader_of(code, source, vocabularies())
    says = (
        _(
            "The model has copied the sentence, as it does with sentences in {other}. It reads only {own}.",
            other=other,
            own=own,
        )
        if is_copy
        else _("These words are more probable in {other}, and this model reads only {own}.", other=other, own=own)
    )
    if not reader:
        says += " " + _("No checkpoint here reads {other}.", other=other)
    yours = _("Your sentence looks like {language}", language=other)
    return Guess(_("This looks like {language}", language=other), says, True, reader, yours)


def _quoted(words: Sequence[str]) -> str:
    """The words in quotation marks: “a”, “b” and “c”; of many words only the first: “a”, “b” and 7 more."""
    quoted = [_("“{word}”", word=word) for word in words]
    if len(quoted) > MOST_QUOTED:
        few = ", ".join(quoted[: MOST_QUOTED - 1])
        return _("{words} and {count} more", words=few, count=len(quoted) - MOST_QUOTED + 1)
    if len(quoted) == 1:
        return quoted[0]
    return _("{words} and {last}", words=", ".join(quoted[:-1]), last=quoted[-1])
