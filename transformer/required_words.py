"""Checks that translations keep what they must: names, numbers, a negation, the words that carry the meaning.

BLEU hardly notices a lost "not" or a wrong name; a reader does. So a file names, for each sentence, words that a right
translation has. The file has four columns, separated by TABs:

    name    Anna lives near the station.    Anna    wohnt|lebt; *bahnhof*
    kind    sentence                        words to keep: a name, a number, a negation     other words

Requirements are separated by ";", alternatives by "|". `*` stands for any letters: `*bahnhof*` is in "Hauptbahnhofs".
An alternative with a capital must be there with its capitals; for one without a capital, case does not matter. A number
is found as a whole: `12` is not in "12,50". A translation with all words may still be wrong; one that lacks a word
counts as wrong.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from transformer.config import DecodingConfig
from transformer.data.corpus import numbered_lines
from transformer.decoding.reranking import Reranker
from transformer.decoding.translator import Translator
from transformer.errors import CorpusError, TranslationError


@dataclass(frozen=True)
class Required:
    """A sentence, and the words that its translation must have."""

    kind: str
    sentence: str
    kept: tuple[str, ...]  # requirements, such as "wohnt|lebt"
    words: tuple[str, ...]

    def missing(self, translation: str) -> tuple[list[str], list[str]]:
        """The requirements that a translation does not meet: of `kept`, and of `words`."""
        kept, words = ([need for need in needs if not has(translation, need)] for needs in (self.kept, self.words))
        return kept, words


@dataclass(frozen=True)
class Outcome:
    """A translation, and what it lacks."""

    kind: str
    sentence: str
    translation: str
    missing_kept: list[str]
    missing_words: list[str]

    @property
    def is_right(self) -> bool:
        return not (self.missing_kept or self.missing_words)


def has(translation: str, requirement: str) -> bool:
    """Whether one of the alternatives is in a translation, as whole words."""
    return any(_pattern(alternative.strip()).search(translation) for alternative in requirement.split("|"))


def read_required(path: Path) -> list[Required]:
    """Reads a file of required words. Raises CorpusError, which names the line, if it is not such a file."""
    found = []
    for number, line in numbered_lines(path):
        fields = [field.strip() for field in line.split("\t")]
        if len(fields) != 4 or not (fields[1] and (fields[2] or fields[3])):
            raise CorpusError(
                f"{path}, line {number}: it should have four columns, separated by TABs: kind, sentence, words to "
                "keep, other words; the sentence and at least one word."
            )
        words = [word for field in fields[2:] for part in _requirements(field) for word in part.split("|")]
        if not all(word.strip() for word in words):
            raise CorpusError(f"{path}, line {number}: a | has no word beside it. Remove it, or add the word.")
        found.append(Required(fields[0], fields[1], _requirements(fields[2]), _requirements(fields[3])))
    if not found:
        raise CorpusError(f"{path}: the file is empty. Give a sentence and its words on each line.")
    return found


def check_words(
    translator: Translator | Reranker,
    required: Sequence[Required],
    settings: DecodingConfig,
    advance: Callable[[int, int], None] = lambda done, total: None,
) -> dict[str, Any]:
    """Translates all sentences and looks for their words.

    Returns:
        `sentences` and `right` (the number of all sentences, and of those with all words), `kinds` (for each kind the
        numbers of its `sentences`, of those that are `right`, and of those that `kept` their names, numbers or
        negation), `wrong` (the sentences that lack a word, and which word).
    """
    translations = translator.translate_each([one.sentence for one in required], settings)
    outcomes = []
    for one, found in zip(required, translations, strict=True):
        text = "" if isinstance(found, TranslationError) else found.text
        outcomes.append(Outcome(one.kind, one.sentence, text, *one.missing(text)))
    advance(len(outcomes), len(outcomes))
    kinds = {}
    for kind in dict.fromkeys(one.kind for one in required):
        mine = [outcome for outcome in outcomes if outcome.kind == kind]
        right = sum(outcome.is_right for outcome in mine)
        kept = sum(not outcome.missing_kept for outcome in mine)
        kinds[kind] = {"sentences": len(mine), "right": right}
        if any(one.kept for one in required if one.kind == kind):
            kinds[kind]["kept"] = kept
    return {
        "sentences": len(outcomes),
        "right": sum(outcome.is_right for outcome in outcomes),
        "kinds": kinds,
        "wrong": [asdict(outcome) for outcome in outcomes if not outcome.is_right],
    }


def as_text(result: dict[str, Any]) -> str:
    """What `check_words` returns, for people to read."""
    lines = []
    for outcome in result["wrong"]:
        missing = ", ".join([*outcome["missing_kept"], *outcome["missing_words"]])
        lines += [outcome["sentence"], f"    {outcome['translation']}", f"    without {missing}"]
    for kind, counts in result["kinds"].items():
        kept = f", what must be kept is in {counts['kept']}" if "kept" in counts else ""
        lines.append(f"{kind}: {counts['right']} of {counts['sentences']} have all words{kept}")
    lines.append(f"{result['right']} of {result['sentences']} sentences have all required words")
    return "\n".join(lines)


def _requirements(field: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in field.split(";") if part.strip())


def _pattern(alternative: str) -> re.Pattern[str]:
    """What finds an alternative as whole words and whole numbers."""
    inside = re.escape(alternative).replace(r"\*", r"\w*")
    flags = re.NOFLAG if any(letter.isupper() for letter in alternative) else re.IGNORECASE
    return re.compile(rf"(?<!\w)(?<!\d[.,:]){inside}(?!\w)(?![.,:]\d)", flags)
