"""Spelling: an unknown word becomes the known word that was probably meant.

    Where is the nearst trian station?   ->   Where is the nearest train station?

A model cuts a mistyped word into tokens that it has rarely seen together: nearst is "▁near" "st". A checkpoint holds
the words of the source text it was trained on, with their counts; a word among them is right. Any other word is
compared with the words that are one edit away (a letter inserted, deleted, replaced, or two exchanged), and the word
with the highest

    (how often it occurs in the text) / (how many times rarer this typo is than the most frequent ones)

is taken if that is at least 5. This is the noisy channel of Kernighan, Church and Gale (1990,
aclanthology.org/C90-2036); the candidates are found as in Norvig (norvig.com/spell-correct.html). It knows no context,
so a typo that gives another known word stays ("form" for "from"), and the factors of the typos are estimates.

Where ä, ö, ü and ß are not on the keyboard, German is typed with ae, oe, ue and ss. If a word is known with these
letters (schön for schoen), that is taken, however rare it is.

Measured with the words of en-de and de-en on sentences with one typo each, 1,629 English and 1,861 German ones of
Tatoeba's test text: 85% and 80% are as they were, 3% and 4% get another word, 8% and 7% have a known word already. Of
the sentences without a typo 1 and 5 are changed; of 997 sentences of news and encyclopedias (FLORES-200), some of which
have typos, 27 and 21.
"""

import re
import unicodedata
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from transformer.text.recasing import WORD
from transformer.text.sentence_splitting import split_sentences

SHORTEST, LONGEST = 3, 40  # letters of a word that is corrected, or in a list
LEAST = 5  # the score that the best candidate needs
# How many times rarer a typo is than the most frequent ones: a letter that is left out, that is typed twice, that is
# exchanged with the next one, or that has lost its accent.
NEIGHBOUR, EXTRA, OTHER = 3, 8, 20  # a key beside it; a letter too many; any other letter
AT_FIRST, AT_LAST = 20, 3  # the first letter is rarely wrong; another last letter is often another form of a rare word
ACCENTED = 20  # a letter that has an accent was rarely meant to be another one
# Inside a sentence: an unknown word with a capital is often a name, and one without was rarely meant to have a capital.
OTHER_CASE = 3
USUAL, MOST_LETTERS = 20, 100  # letters that candidates may have: the least count over all words, and how many

MOST_WORDS = 200_000  # in a list: the most frequent ones
MOST_BYTES = MOST_WORDS * (14 + 4 * LONGEST)  # of a list, not packed: a count, a word, a space and a line break each
_ENTRY = re.compile(rf"\d{{1,12}} [\w'\u0300-\u036f]{{1,{LONGEST}}}")  # lower case may add an accent: i̇
_KEYS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
BESIDE = {key: (row[i - 1] if i else "") + row[i + 1 : i + 2] for row in _KEYS for i, key in enumerate(row)}
_UMLAUTS, _SHARP_S = {"ae": "ä", "oe": "ö", "ue": "ü"}, {"ss": "ß"}


@dataclass(frozen=True)
class WordList:
    """The words of a text as they are written inside sentences, and how many times each occurs."""

    counts: Mapping[str, int]

    def corrected(self, sentence: str) -> str:
        """The sentence with known words. Corrected again, it stays the same.

        If more than half of its words are unknown, it is probably of another language, and stays as it is.
        """
        words = list(WORD.finditer(sentence))
        unknown = sum(word[0].lower() not in self._lower for word in words)
        if unknown > max(1, len(words) / 2):
            return sentence
        case = "upper" if sentence.isupper() else "lower" if sentence.islower() else "mixed"

        def known(found: re.Match[str]) -> str:
            return self._corrected(found[0], case, is_first=found.start() == words[0].start())

        return WORD.sub(known, sentence)

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
        lines = text.split("\n")[:-1]
        if not unpacking.eof or len(lines) > MOST_WORDS:
            raise ValueError(f"it is cut off, or has more than {MOST_WORDS:,} words")
        if wrong := [line for line in lines if not _ENTRY.fullmatch(line)]:
            raise ValueError(f"{wrong[0][:40]!r} is not a count and a word")
        return cls({word: int(count) for count, word in (line.split(" ") for line in lines)})

    @cached_property
    def _lower(self) -> Counter[str]:
        """The counts of the words in lower case."""
        found = Counter[str]()
        for word, count in self.counts.items():
            found[word.lower()] += count
        return found

    @cached_property
    def _letters(self) -> list[str]:
        found = Counter[str]()
        for word, count in self._lower.items():
            found.update(dict.fromkeys(word, count))
        return [letter for letter, count in found.most_common(MOST_LETTERS) if count >= USUAL]

    def _corrected(self, word: str, case: str, is_first: bool) -> str:
        lower = word.lower()
        has_inner_capital = case == "mixed" and not word[1:].islower()  # an abbreviation, for example
        if not SHORTEST <= len(lower) <= LONGEST or lower in self._lower or has_inner_capital:
            return word
        if written_out := [way for way in without_written_out_letters(lower) if way in self._lower]:
            return self._written(max(written_out, key=self._lower.__getitem__), word, case, is_first)[0]
        best, most = word, 0.0
        for candidate, factor in one_edit_candidates(lower, self._letters).items():
            if candidate not in self._lower:
                continue
            written, count = self._written(candidate, word, case, is_first)
            if count / factor > most:
                best, most = written, count / factor
        return best if most >= LEAST else word

    def _written(self, candidate: str, word: str, case: str, is_first: bool) -> tuple[str, float]:
        """A candidate in the letter case in which it would replace a word, and its count in that case."""
        capital = candidate[:1].upper() + candidate[1:]
        if case == "upper":
            return candidate.upper(), self._lower[candidate]
        if case == "lower":
            return candidate, self._lower[candidate]
        if is_first:
            return capital if word[0].isupper() else candidate, self._lower[candidate]
        if word[0].isupper():
            return capital, 0 if "'" in candidate else self.counts.get(capital, 0) / OTHER_CASE
        lower_count, capital_count = self.counts.get(candidate, 0), self.counts.get(capital, 0) / OTHER_CASE
        return (candidate, lower_count) if lower_count >= capital_count else (capital, capital_count)


def changed_words(typed: str, read: str) -> list[tuple[str, str]]:
    """The words of a sentence that are other words, not only in another letter case, after it was corrected.

    A ß is SS in capitals: STRASSE and Straße differ in case, heisse and heiße do not.
    """
    pairs = zip(WORD.findall(typed), WORD.findall(read), strict=False)
    return [(before, after) for before, after in pairs if not _differ_in_case(before, after)]


def _differ_in_case(one: str, other: str) -> bool:
    """Whether the words are the same but, perhaps, for their letter case."""
    return one.lower() == other.lower() or (one.isupper() and one.casefold() == other.casefold())


def without_written_out_letters(word: str) -> list[str]:
    """The ways to write a word, in lower case, with ä, ö and ü, with ß, and with all of them."""
    ways = []
    for letters in (_UMLAUTS, _SHARP_S, _UMLAUTS | _SHARP_S):
        way = word
        for written_out, letter in letters.items():
            way = way.replace(written_out, letter)
        ways.append(way)
    return [way for way in dict.fromkeys(ways) if way != word]


def one_edit_candidates(word: str, letters: Iterable[str]) -> dict[str, int]:
    """All that somebody may have wanted to type who typed this word, in lower case, with one typo; and how many times
    rarer the typo is than the most frequent ones."""
    found: dict[str, int] = {}
    for wanted, factor in _edits(word, [(letter, _without_accent(letter)) for letter in letters]):
        if wanted != word:
            found[wanted] = min(factor, found.get(wanted, factor))
    return found


def _edits(word: str, letters: Sequence[tuple[str, str]]) -> Iterator[tuple[str, int]]:
    """The candidates with their factors, some several times. Each of the `letters` comes with the letter that it is
    without its accent."""
    for place in range(len(word) + 1):
        before, after = word[:place], word[place:]
        at = AT_FIRST if place == 0 else AT_LAST if place == len(word) else 1
        for letter, _ in letters:
            yield before + letter + after, at  # a letter was left out
        if not after:
            return
        typed, rest = after[0], after[1:]
        is_double, has_accent = typed in (before[-1:], rest[:1]), typed != _without_accent(typed)
        at = AT_FIRST if place == 0 else 1 if rest else AT_LAST
        yield before + rest, 1 if is_double else EXTRA * at
        for letter, base in letters:
            kind = NEIGHBOUR if letter in BESIDE.get(typed, "") else OTHER * ACCENTED if has_accent else OTHER
            yield before + letter + rest, 1 if base == typed else kind * at
        if rest:
            yield before + rest[0] + typed + rest[1:], at  # two were exchanged


def _without_accent(letter: str) -> str:
    return unicodedata.normalize("NFD", letter)[0]


def word_list(lines: Iterable[str]) -> WordList | None:
    """The words of a text, the most frequent first; None if it has none. Each line is one or more sentences.

    The first word of a sentence has a capital whatever it is. It counts in the way, with the capital or without, in
    which it is more frequent inside of sentences; if it is never inside of one, in lower case.
    """
    inside, first = Counter[str](), Counter[str]()
    for line in lines:
        for sentence in split_sentences(line):
            words = WORD.findall(sentence)
            first.update(words[:1])
            inside.update(words[1:])
    counts = Counter(inside)
    for word, count in first.items():
        lower = word.lower()
        counts[word if inside[word] > inside[lower] else lower] += count
    kept = {word: count for word, count in counts.items() if len(word) <= LONGEST}
    ordered = sorted(kept.items(), key=lambda item: (-item[1], item[0]))[:MOST_WORDS]
    return WordList(dict(ordered)) if ordered else None
