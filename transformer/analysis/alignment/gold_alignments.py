"""Gold word alignments, made by people, read from a file.

A line is a pair of sentences with its links, in columns that are separated by one TAB:

    words of one sentence   words of the other   sure links   possible links

Words are separated by a space. A link `i-j` connects word i of the first column with word j of the second, counted from
0. *Sure* links are unambiguous, *possible* ones are ambiguous (Och & Ney 2003); sure links also count as possible,
whether or not column 4 lists them. Without the fourth column all links are sure.

Trap: many published files count from 1, so every link would be one word off. A link beyond its sentence is refused, and
so is a file of at least 5 pairs that has no link to a first word (test_a_file_that_counts_from_1_is_refused).
"""

import re
from dataclasses import dataclass
from pathlib import Path

from transformer.data.corpus import numbered_lines
from transformer.errors import CorpusError
from transformer.files.untrusted_values import shown
from transformer.text.normalisation import clean

Link = tuple[int, int]  # (word of the source, word of the target), from 0

_LINK = re.compile(r"(\d{1,5})-(\d{1,5})")
_ENOUGH = 5  # with fewer pairs, a file without a link to a first word may still count from 0


@dataclass(frozen=True)
class GoldPair:
    """Two sentences in words, and the links between them."""

    source: tuple[str, ...]
    target: tuple[str, ...]
    sure: frozenset[Link]
    possible: frozenset[Link]  # including the sure ones


@dataclass(frozen=True)
class GoldText:
    """A gold alignment: the pairs of a file, as they were read."""

    file: Path
    swapped: bool  # the first column is the target
    pairs: list[GoldPair]


def read_gold(path: Path, *, swap: bool = False) -> GoldText:
    """All pairs of a `.tsv` or `.tsv.gz`.

    Args:
        swap: the first column is the target, the second the source; links are reversed, too.

    Raises:
        CorpusError: the file is not a gold alignment; the message names the line.
    """
    pairs = [_pair(f"{path}, line {number}", line, swap) for number, line in numbered_lines(path)]
    if not pairs:
        raise CorpusError(f"{path}: the file is empty. Give a file with one pair of aligned sentences per line.")
    if not any(pair.sure for pair in pairs):
        raise CorpusError(f"{path}: no line has a sure link. The third column holds them, such as 0-0 1-2.")
    if len(pairs) >= _ENOUGH and not any(0 in link for pair in pairs for link in pair.possible):
        raise CorpusError(
            f"{path}: no line links a first word, so the links seem to count from 1. They must count "
            "from 0: subtract 1 from both numbers of each link."
        )
    return GoldText(path, swap, pairs)


def _pair(where: str, line: str, swap: bool) -> GoldPair:
    fields = line.split("\t")
    if len(fields) not in (3, 4):
        raise CorpusError(
            f"{where}: there are {len(fields)} columns instead of 3 or 4. A line has two sentences, sure links and, "
            "optionally, possible links, separated by one TAB each."
        )
    first, second = _words(where, fields[0]), _words(where, fields[1])
    sure, *possible = [_links(where, field, len(first), len(second)) for field in fields[2:]]
    every = sure.union(*possible)
    if not swap:
        return GoldPair(first, second, sure, every)
    return GoldPair(second, first, _reversed(sure), _reversed(every))


def _words(where: str, field: str) -> tuple[str, ...]:
    words = tuple(clean(word) for word in field.split(" "))
    if not all(words):  # leaving an empty word out would change the numbers of the others
        raise CorpusError(f"{where}: a word is empty. Words are separated by exactly one space.")
    return words


def _links(where: str, field: str, first: int, second: int) -> frozenset[Link]:
    links = []
    for text in field.split():
        found = _LINK.fullmatch(text)
        if not found:
            raise CorpusError(
                f"{where}: {shown(text)} is not a link. A link is i-j: word i of the first sentence, j of the second."
            )
        link = int(found[1]), int(found[2])
        if link[0] >= first or link[1] >= second:
            raise CorpusError(
                f"{where}: the link {text} points beyond the sentences, which have {first} and {second} words. Words "
                "are counted from 0; if the file counts from 1, subtract 1 from both numbers of each link."
            )
        links.append(link)
    return frozenset(links)


def _reversed(links: frozenset[Link]) -> frozenset[Link]:
    return frozenset((j, i) for i, j in links)
