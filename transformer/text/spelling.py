"""Spelling: a word that the model has never seen becomes the known word that was probably meant.

    Where is the nearst trian station?   ->   Where is the nearest train station?

A model cuts a mistyped word into tokens that it has rarely seen together: nearst is "▁near" "st". A checkpoint holds
the words of the source text it was trained on, with their counts; a word among them is right. Any other word is
compared with all words that one slip of a finger would have turned into it, and the word with the highest

    (how often it occurs in the text) / (how many times rarer its slip is than the most frequent ones)

is taken if that is at least 5. This is the noisy channel of Kernighan, Church and Gale (1990,
aclanthology.org/C90-2036); the candidates are found as in Norvig (norvig.com/spell-correct.html). It knows no context,
so a slip that gives another known word stays ("form" for "from"), and the factors of the slips are estimates.

Measured with the words of en-de and de-en on sentences with one typo each, 1,629 English and 1,861 German ones of
Tatoeba's test text: 85% and 80% are as they were, 3% and 4% get another word, 8% and 7% have a known word already. Of
the sentences without a typo 1 and 5 are changed; of 997 sentences of news and encyclopedias (FLORES-200), some of which
have typos, 25 and 22.
"""

import re
import unicodedata
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from transformer.text.sentence_splitting import split_sentences

SHORTEST = 3  # letters of a word that is corrected
LEAST = 5  # the score that the best candidate needs
# How many times rarer a slip is than the most frequent ones: a letter that is left out, that is typed twice, that is
# exchanged with the next one, or that has lost its accent.
NEIGHBOUR, EXTRA, OTHER = 3, 8, 20  # a key beside it; a letter too many; any other letter
AT_FIRST, AT_LAST = 20, 3  # the first letter is rarely wrong; another last letter is often another form of a rare word
# Inside a sentence: an unknown word with a capital is often a name, and one without was rarely meant to have a capital.
OTHER_CASE = 3
USUAL = 20  # the least count, over all words, of a letter that candidates may have

MOST_WORDS = 200_000  # in a list: the most frequent ones
MOST_BYTES = 16_000_000  # of a list, not packed
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_KEYS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
BESIDE = {key: (row[i - 1] if i else "") + row[i + 1 : i + 2] for row in _KEYS for i, key in enumerate(row)}


@dataclass(frozen=True)
class WordList:
    """The words of a text as they are written inside sentences, and how many times each occurs."""

    counts: Mapping[str, int]

    def corrected(self, sentence: str) -> str:
        """The sentence with known words. Corrected again, it stays the same.

        If more than half of its words are unknown, it is probably of another language, and stays as it is.
        """
        words = list(_WORD.finditer(sentence))
        unknown = sum(word[0].lower() not in self._small for word in words)
        if unknown > max(1, len(words) / 2):
            return sentence
        case = "upper" if sentence.isupper() else "lower" if sentence.islower() else "mixed"

        def known(found: re.Match[str]) -> str:
            return self._corrected(found[0], case, is_first=found.start() == words[0].start())

        return _WORD.sub(known, sentence)

    def to_bytes(self) -> bytes:
        """The list for a checkpoint, packed."""
        return zlib.compress("".join(f"{count} {word}\n" for word, count in self.counts.items()).encode(), 9)

    @classmethod
    def from_bytes(cls, packed: bytes) -> "WordList":
        """Reads what `to_bytes` has written. Raises ValueError: it is damaged, or larger than any that is written."""
        unpacking = zlib.decompressobj()
        try:
            text = unpacking.decompress(packed, MOST_BYTES).decode()
        except (zlib.error, UnicodeDecodeError) as error:
            raise ValueError(str(error)) from None
        lines = [line.split(" ") for line in text.splitlines()]
        if not unpacking.eof or len(lines) > MOST_WORDS:
            raise ValueError(f"it is cut off, or has more than {MOST_WORDS:,} words")
        if wrong := [line for line in lines if not (len(line) == 2 and line[0].isdecimal() and line[1])]:
            raise ValueError(f"{' '.join(wrong[0])[:40]!r} is not a count and a word")
        return cls({word: int(count) for count, word in lines})

    @cached_property
    def _small(self) -> Counter[str]:
        """The counts of the words in lower case."""
        found = Counter[str]()
        for word, count in self.counts.items():
            found[word.lower()] += count
        return found

    @cached_property
    def _letters(self) -> list[str]:
        found = Counter[str]()
        for word, count in self._small.items():
            found.update(dict.fromkeys(word, count))
        return sorted(letter for letter, count in found.items() if count >= USUAL)

    def _corrected(self, word: str, case: str, is_first: bool) -> str:
        small = word.lower()
        is_abbreviation = case == "mixed" and word.isupper()
        if len(small) < SHORTEST or small in self._small or is_abbreviation or "’" in word:
            return word
        best, most = word, 0.0
        for candidate, factor in slips(small, self._letters).items():
            if candidate not in self._small:
                continue
            written, count = self._written(candidate, word, case, is_first)
            if count / factor > most:
                best, most = written, count / factor
        return best if most >= LEAST else word

    def _written(self, candidate: str, word: str, case: str, is_first: bool) -> tuple[str, float]:
        """A candidate in the letter case in which it would replace a word, and its count in that case."""
        capital = candidate[:1].upper() + candidate[1:]
        if case == "upper":
            return candidate.upper(), self._small[candidate]
        if case == "lower":
            return candidate, self._small[candidate]
        if is_first:
            return capital if word[0].isupper() else candidate, self._small[candidate]
        if word[0].isupper():
            return capital, self.counts.get(capital, 0) / OTHER_CASE
        small_count, capital_count = self.counts.get(candidate, 0), self.counts.get(capital, 0) / OTHER_CASE
        return (candidate, small_count) if small_count >= capital_count else (capital, capital_count)


def changed_words(typed: str, read: str) -> list[tuple[str, str]]:
    """The words of a sentence that are other words, not only in another letter case, after it was corrected."""
    pairs = zip(_WORD.findall(typed), _WORD.findall(read), strict=False)
    return [(before, after) for before, after in pairs if before.casefold() != after.casefold()]


def slips(word: str, letters: Iterable[str]) -> dict[str, int]:
    """All that somebody may have wanted to type who typed this word, in lower case, with one slip; and how many times
    rarer the slip is than the most frequent ones."""
    found: dict[str, int] = {}
    for wanted, factor in _slips(word, letters):
        if wanted != word:
            found[wanted] = min(factor, found.get(wanted, factor))
    return found


def _slips(word: str, letters: Iterable[str]) -> Iterator[tuple[str, int]]:
    for place in range(len(word) + 1):
        before, after = word[:place], word[place:]
        at = AT_FIRST if place == 0 else AT_LAST if place == len(word) else 1
        for letter in letters:
            yield before + letter + after, at  # a letter was left out
        if not after:
            return
        typed, rest = after[0], after[1:]
        is_double = typed in (before[-1:], rest[:1])
        at = AT_FIRST if place == 0 else 1 if rest else AT_LAST
        yield before + rest, 1 if is_double else EXTRA * at
        for letter in letters:
            is_accent = unicodedata.normalize("NFD", letter)[0] == typed
            is_beside = letter in BESIDE.get(typed, "")
            yield before + letter + rest, 1 if is_accent else (NEIGHBOUR if is_beside else OTHER) * at
        if rest:
            yield before + rest[0] + typed + rest[1:], at  # two were exchanged


def word_list(lines: Iterable[str]) -> WordList | None:
    """The words of a text, the most frequent first; None if it has none. Each line is one or more sentences.

    The first word of a sentence has a capital whatever it is. It counts in the way, with the capital or without, in
    which it is more frequent inside of sentences; if it is never inside of one, in lower case.
    """
    inside, first = Counter[str](), Counter[str]()
    for line in lines:
        for sentence in split_sentences(line):
            words = _WORD.findall(sentence)
            first.update(words[:1])
            inside.update(words[1:])
    counts = Counter(inside)
    for word, count in first.items():
        small = word.lower()
        counts[word if inside[word] > inside[small] else small] += count
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:MOST_WORDS]
    return WordList(dict(ordered)) if ordered else None
