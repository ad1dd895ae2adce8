"""The one score of a checkpoint that is shown beside its name, and how it was measured.

A member of a family has the score of its family, by which the members are compared. Any other checkpoint has BLEU on
the test text of its card; a toy has its exact matches. Only where there is nothing better is it the validation while it
was trained, which translates greedily and few sentences.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from app.library.catalogue import Entry, Score
from app.library.families import Families
from transformer.files.untrusted_values import finite_number


@dataclass(frozen=True)
class MainScore:
    """A score with all that one must know to compare it.

    Attributes:
        measure: "BLEU" or "exact match", from 0 to 100.
        measured_on: text, number of sentences and search, such as "1,000 pairs of test_2016_flickr, beam 4".
        signature: sacrebleu's, or "".
    """

    measure: str
    value: float
    measured_on: str
    signature: str

    def __str__(self) -> str:
        return f"{self.value:.0f}% right" if self.measure == "exact match" else f"{self.measure} {self.value:.1f}"


def main_score(one: Entry, families: Families) -> MainScore | None:
    """None: its files name no score."""
    for family in families.families:
        for member in family.members:
            found = member.ours.get("bleu") if member.file and member.file.name == one.file.name else None
            if found:
                return MainScore("BLEU", found.mean, families.measured_on, families.signature)
    measure = "exact match" if one.is_toy else "BLEU"
    scores = [score for score in one.scores if score.measure == measure]
    best = min(scores, key=_rank, default=None)
    return MainScore(measure, best.value, _measured_on(one, best), best.signature) if best else None


def _rank(score: Score) -> tuple[bool, bool, bool]:
    """The smallest first: its test text before others, others before validation, and no greedy search before one."""
    return score.text == "validation", score.text != "test", score.search == "greedy"


def _measured_on(one: Entry, score: Score) -> str:
    if score.text == "test" and score.search != "greedy" and "Test" in one.facts:
        return one.facts["Test"]
    count = score.sentences or (_validation_sentences(one) if score.text == "validation" else 0)
    text = {"test": "its test text", "validation": "its validation text"}.get(score.text, score.text)
    return ", ".join(part for part in (f"{count:,} pairs of {text}" if count else text, score.search) if part)


def _validation_sentences(one: Entry) -> int:
    recipe = one.header.recipe if one.header else None
    training = recipe.get("training") if isinstance(recipe, Mapping) else None
    return int(finite_number(training.get("validation_sentences")) or 0) if isinstance(training, Mapping) else 0
