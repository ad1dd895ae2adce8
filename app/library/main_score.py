"""The one score of a checkpoint that is shown beside its name, and how it was measured.

For a member of a family it is the score by which the family is compared, of the run whose checkpoint ships. For any
other checkpoint it is BLEU on its test text, and for a toy task the exact matches. If that was not measured, it is the
score on another text; else that of the validation during training, which is greedy and on few sentences.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from app.figures.shares import Share
from app.languages import _, gettext_noop
from app.languages.numbers import formatted
from app.library.catalogue import Entry, Score
from app.library.families import Family
from transformer.files.untrusted_values import finite_number

SHIPPED_TESTS = (  # what the cards of the shipped checkpoints say in their row "Test"
    gettext_noop("2,000 held-out pairs of Tatoeba, beam 4"),
    gettext_noop("2,000 held-out pairs of Tatoeba (1,629 different sentences), beam 4"),
    gettext_noop("the 1,000 captions of Multi30k test_2016_flickr, beam 5"),
)


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
        if self.measure == "exact match":
            return _("{share:.0%} right", share=Share(self.value / 100))
        return f"{self.measure} {formatted(self.value, '.1f')}"


def main_score(one: Entry, families: Sequence[Family]) -> MainScore | None:
    """The main score of a checkpoint; None if its files name no score."""
    for family in families:
        for member in family.members:
            found = member.ours.get(family.main) if member.file and member.file.name == one.file.name else None
            if found and family.text.is_toy:
                return MainScore("exact match", found.first, family.text.measured_on, "")
            if found:
                return MainScore("BLEU", found.first, family.text.measured_on, family.text.signature)
    measure = "exact match" if one.is_toy else "BLEU"
    scores = [score for score in one.scores if score.measure == measure]
    best = min(scores, key=_rank, default=None)
    return MainScore(measure, best.value, measured_on(one, best), best.signature) if best else None


def _rank(score: Score) -> tuple[bool, bool, bool]:
    """The score with the smallest rank is shown. The test text comes before other texts, and these come before the
    validation text. On the same text, greedy decoding comes last."""
    return score.text == "validation", score.text != "test", score.search == "greedy"


def measured_on(one: Entry, score: Score) -> str:
    """Text, number of sentences and search of a score, such as "1,000 pairs of test_2016_flickr, beam 4"."""
    if score.text == "test" and score.search != "greedy" and "Test" in one.facts:
        return _(one.facts["Test"])
    count = score.sentences
    if not count and score.text == "validation":
        count = int(finite_number(one.recipe("training").get("validation_sentences")) or 0)
    text = {"test": _("its test text"), "validation": _("its validation text")}.get(score.text, score.text)
    pairs = _("{count:,} pairs of {text}", count=count, text=text) if count else text
    return f"{pairs}, {search_words(score)}" if score.search else pairs


def text_words(score: Score) -> str:
    """On which text it was measured, for a table."""
    return {"test": _("test text"), "validation": _("validation text")}.get(score.text, score.text)


def search_words(score: Score) -> str:
    """How the translations were searched for, in words; "" where the file does not say."""
    beam = re.fullmatch(r"beam ([0-9]{1,4})", score.search)
    return _("beam {size}", size=int(beam[1])) if beam else _(score.search)
