"""Names and numbers replaced by others in training, so that a model learns to copy names that it has never read.

    Tom lives in Boston.  Tom wohnt in Boston.   ->   Maritin lives in Boston.  Maritin wohnt in Boston.

Everyday text has few different names: "Tom" alone is in a quarter of Tatoeba's English sentences. This is augmentation
of rare words (as Fadaee et al. 2017, arXiv:1705.00440) without a language model or an aligner. Our definition: a word
of three letters or more is a name if both sentences have it equally often, it begins with a capital, and the text
hardly ever has it in lower case (which distinguishes "Boston" from "Hotel"). In both sentences it is replaced by
another name of the text, or by the beginning of one and the end of another. A number of two or more digits is replaced
by a random one of the same length.
"""

import random
import re
from collections import Counter
from collections.abc import Iterable, Sequence

from transformer.data.corpus import Pair

_WORD = re.compile(r"[^\W\d_]+|\d+")  # letters, or digits
FEWEST_LETTERS = 3  # of a name
MOST_DIGITS = 4000  # of a number that is replaced; Python converts at most 4,300
TYPOS = 0.01  # the most lower-case occurrences of a name, per pair that has the name: so few are typing errors


class Names:
    """The names of a text, which may replace each other."""

    def __init__(self, pairs: Sequence[Pair]):
        in_lower_case = Counter(
            word for pair in pairs for side in pair for word in _WORD.findall(side) if word.islower()
        )
        found = Counter(word for pair in pairs for word in _in_both(pair) if _looks_like_a_name(word))
        self._known = sorted(word for word, count in found.items() if in_lower_case[word.lower()] <= TYPOS * count)
        self._are_names = frozenset(self._known)

    def swapped(self, pairs: Iterable[Pair], rate: float, rng: random.Random) -> Iterable[Pair]:
        """The pairs, each name and each number replaced with probability `rate`."""
        return (self._swap(pair, rate, rng) for pair in pairs)

    def _swap(self, pair: Pair, rate: float, rng: random.Random) -> Pair:
        replacements: dict[str, str] = {}
        for word in _in_both(pair):
            if word in self._are_names and rng.random() < rate:
                replacements[word] = self._another(rng)
            elif 1 < len(word) <= MOST_DIGITS and word.isdecimal() and rng.random() < rate:
                replacements[word] = str(rng.randrange(10 ** (len(word) - 1), 10 ** len(word)))
        if not replacements:
            return pair
        source, target = (_WORD.sub(lambda found: replacements.get(found[0], found[0]), side) for side in pair)
        return source, target

    def _another(self, rng: random.Random) -> str:
        first, second = rng.choice(self._known), rng.choice(self._known)
        return first if rng.random() < 0.5 else first[: (len(first) + 1) // 2] + second[len(second) // 2 :]


def _in_both(pair: Pair) -> list[str]:
    """The words that both sides have equally often, in the order of the source."""
    source, target = (Counter(_WORD.findall(side)) for side in pair)
    return [word for word, count in source.items() if target.get(word) == count]


def _looks_like_a_name(word: str) -> bool:
    return len(word) >= FEWEST_LETTERS and word[0].isupper() and word[1:].islower()
