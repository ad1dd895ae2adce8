"""Finds the language of a text with the vocabularies of the checkpoints. Each vocabulary is a unigram model of text in
two languages, and gives other text a lower probability.

Measured in December 2026 on 600 sentences of Tatoeba per language, as log-probability per character. The value under
the vocabulary of en-de minus the value under that of en-fr is -0.67 to 0.49 for English (1st and 99th percentile), 0.89
to 3.6 for German, and -4.2 to -0.78 for French. The larger of the two values is -3.3 or more for sentences in these
three languages (1st percentile); with earlier vocabularies it was -3.3 or less for Spanish, -3.1 or less for Dutch,
-3.6 or less for invented words.

The value per character varies more in short sentences, so the difference must also be large in sum: of sentences of 2
to 4 words (Tatoeba's training part), 0.5% of 4,116 English ones exceed 20 nats, and 90% of as many German ones. If the
translation equals the sentence, the model has learned to copy its target language: an earlier en-de copied 27% of the
German and 0.3% of the English sentences of this length. How many sentences of Tatoeba's test part are recognised as
another language, by their number of words (the last two columns are errors):

    words      German in en-de   English in de-en   English in en-de   German in de-en
      2            7 of 11           14 of 14            0 of 14            0 of 11
      3          109 of 112         107 of 114           6 of 114           0 of 112
      4          263 of 265         238 of 243           1 of 243           0 of 265
    5 or more      100%               96%                0.7%               0.0%      of 300
"""

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import streamlit as st

from app.library.catalogue import entry
from app.library.checkpoints import CheckpointFile, checkpoints
from transformer.analysis.guesses import IMPROBABLE
from transformer.checkpoint.checkpoint_file import load_tokenizer
from transformer.errors import HeadlightError
from transformer.text.tokenizer import Tokenizer

CLEAR = 0.65  # nats per character by which the language's vocabularies must be better than those without it
ENOUGH = 20.0  # nats by which they must also be better in sum
MORE = 25.0  # the same if the certainty of the translation is at least SURE
SURE = 0.8  # of sentences in a wrong language, 95% have a certainty below 0.54 (en-de) and 0.72 (de-en)
WELL = -3.2  # per character: what a text of a known language has at least
LEAST_LETTERS = 10
UNEXPLAINED = 0.5  # nats per character: if the vocabularies of `own` are better by less, the text is not in `own`
_PAIR = re.compile(r"[a-z]{2,3}-[a-z]{2,3}")
_WORD = re.compile(r"[^\W\d_]+")
_NAME_OR_NUMBER = re.compile(r"\d\S*|(?<=\s)[^\W\d_a-zà-ÿ][^\W\d_]*")  # rare words of any language


@dataclass(frozen=True)
class Vocabulary:
    """The vocabulary of a checkpoint that translates between two languages, by their codes."""

    file: CheckpointFile
    source: str
    target: str
    tokenizer: Tokenizer

    def score(self, text: str) -> float:
        """The log-probability of the text per character."""
        return self.tokenizer.unigram_score(text) / max(len(text), 1)


def vocabularies() -> list[Vocabulary]:
    """The vocabularies of the checkpoints in the folder that are named by their languages, such as en-de, and have a
    unigram vocabulary.

    Other checkpoints may have learned from text of one kind. Trap: the vocabulary of captions explains English captions
    so well that they would be taken for German, its other language
    (test_the_vocabularies_distinguish_the_languages).
    """
    return [found for file in checkpoints().values() if _PAIR.fullmatch(file.name) and (found := _vocabulary(file))]


@st.cache_resource(max_entries=32, show_spinner=False)
def _vocabulary(file: CheckpointFile) -> Vocabulary | None:
    known = entry(file)
    source, target = known.languages
    kind = known.recipe("tokenizer").get("kind")
    if source == target or file.name != f"{source}-{target}" or kind != "unigram":
        return None
    try:
        return Vocabulary(file, source, target, load_tokenizer(file.path))
    except (HeadlightError, OSError):
        return None


def same_vocabulary(file: CheckpointFile, files: Iterable[CheckpointFile]) -> list[CheckpointFile]:
    """Those of the files that cut a text into the same tokens as this one."""
    known = _fingerprint(file)
    return [each for each in files if known and _fingerprint(each) == known]


@st.cache_data(max_entries=256, show_spinner=False)
def _fingerprint(file: CheckpointFile) -> str:
    """A text that is the same for equal vocabularies; "" if the vocabulary cannot be read."""
    try:
        return hashlib.sha256(load_tokenizer(file.path).to_bytes()).hexdigest()
    except (HeadlightError, OSError):
        return ""


def language_of(
    text: str, own: str, certainty: float, known: Sequence[Vocabulary], copied_into: str = ""
) -> str | None:
    """The code of the language of a text that is not in the language `own`; "" if it is in no known language; None if
    there is no reason to doubt that it is in `own`.

    Args:
        certainty: the geometric mean of the probabilities of the tokens of its translation.
        copied_into: the target language if the translation equals the text; else "".
    """
    if not any(own == each.source for each in known):
        return None
    ordinary = " ".join(_NAME_OR_NUMBER.sub(" ", text).split())
    is_long = letters(ordinary) >= LEAST_LETTERS
    if is_long and max(each.score(ordinary) for each in known) < WELL:
        return "" if certainty < IMPROBABLE or copied_into else None
    if copied_into and len(_WORD.findall(ordinary)) > 1:
        return copied_into
    scores = {each: each.score(text) for each in known}
    languages = {code for each in known for code in (each.source, each.target)}
    better: dict[str, float] = {}  # by language: how much better its vocabularies are than those without it
    for code in sorted(languages):
        has = [score for each, score in scores.items() if code in (each.source, each.target)]
        others = [score for each, score in scores.items() if code not in (each.source, each.target)]
        if others:
            better[code] = max(has) - max(others)
    if better.get(own, 0) > CLEAR:
        return None
    is_sure = certainty >= SURE
    best = max(better, key=better.__getitem__, default="")
    if best and best != own and better[best] > max(CLEAR, (MORE if is_sure else ENOUGH) / len(text)):
        return best
    if not is_long or is_sure:
        return None
    shared = languages - set(better) - {own}  # all vocabularies have it, so none explains it better
    return shared.pop() if better.get(own, CLEAR) < UNEXPLAINED and len(shared) == 1 else None


def letters(text: str) -> int:
    return sum(letter.isalpha() for letter in text)


def reader_of(code: str, target: str, known: Sequence[Vocabulary]) -> CheckpointFile | None:
    """A checkpoint that reads this language, preferably one that translates into `target`; None if there is none."""
    readers = [each for each in known if each.source == code]
    into = [each for each in readers if each.target == target]
    return (into or readers)[0].file if readers else None
