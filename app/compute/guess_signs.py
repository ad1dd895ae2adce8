"""When the model guesses: what a visitor should know before believing a translation, in words that a class understands.

Each sign has its threshold and what was measured beside it: `transformer.analysis.guesses`, `app.library.vocabularies`.
"""

from dataclasses import dataclass

from app.compute.subject import Subject
from app.library.checkpoints import CheckpointFile
from app.library.tasks import LANGUAGES
from app.library.vocabularies import language_of, reader_of, vocabularies
from transformer.analysis.doctor.finding import listed
from transformer.analysis.guesses import (
    IMPROBABLE,
    certainty,
    missing_names,
    missing_numbers,
)
from transformer.decoding.translation import Hypothesis, Translation


@dataclass(frozen=True)
class Guess:
    """One sign that a translation is a guess.

    Attributes:
        title: in a few words.
        says: why, with numbers.
        reader: the checkpoint that reads the sentence, if another one does.
    """

    title: str
    says: str
    reader: CheckpointFile | None = None


def guesses(subject: Subject, translation: Translation, hypothesis: Hypothesis) -> tuple[Guess, ...]:
    """All signs for a translation that the model found itself, the most helpful first."""
    text, mean = translation.source, certainty(hypothesis.log_probabilities)
    source, target = _languages(subject)
    found: list[Guess] = []
    missing: list[str] = []
    if source:  # a toy task may well write other numbers
        copied_into = target if hypothesis.text == text else ""
        code = language_of(text, source, mean, vocabularies(), copied_into)
        found += [] if code is None else [_other_language(code, source, target)]
        missing = [*missing_names(text, hypothesis.text, source), *missing_numbers(text, hypothesis.text)]
    if missing:
        quoted = listed([f"“{each}”" for each in missing], 3)
        found.append(
            Guess(
                f"{quoted} {'is' if len(missing) == 1 else 'are'} not in the translation",
                "Names and numbers usually stay the same in a translation. The model splits rare ones into small "
                "tokens and may write something else.",
            )
        )
    if mean < IMPROBABLE and translation.settings.method != "sampling":
        found.append(
            Guess(
                f"The model is guessing: its tokens have a probability of {mean:.0%} on average",
                "This is the geometric mean of the probabilities of the chosen tokens. It is below "
                f"{IMPROBABLE:.0%} for 3% of everyday sentences, and most of those are translated wrongly.",
            )
        )
    return tuple(found)


def _other_language(code: str, source: str, target: str) -> Guess:
    own = LANGUAGES.get(source, source)
    reads = f"this model reads only {own}"
    if not code:
        return Guess(f"This does not look like {own}", f"No vocabulary here contains these words, and {reads}.")
    reader = reader_of(code, source, vocabularies())
    language = LANGUAGES.get(code, code)
    says = f"These words are more probable in {language}, and {reads}."
    if reader is None:
        says += f" No checkpoint here reads {language}."
    return Guess(f"This looks like {language}", says, reader=reader)


def _languages(subject: Subject) -> tuple[str, str]:
    """Codes of source and target; "" for a toy task or an unknown recipe."""
    checkpoint = subject.translator.checkpoint
    data = checkpoint.recipe.get("data") if checkpoint and checkpoint.recipe else None
    if not isinstance(data, dict) or data.get("toy"):
        return "", ""
    return str(data.get("source_language", "")), str(data.get("target_language", ""))
