"""Parallel text from files: `.tsv` or `.tsv.gz`, one pair a line, or two files aligned line by line.

A field is what stands between two TABs, nothing more: no CSV quoting, for a sentence may hold a bare `"`, and the
line ends at "\\n" only, for a sentence may hold U+2028. Everything is read as a stream; what is wrong is told with
file and line. Sources come out normalised (as the translator will normalise what a user types), targets cleaned
(see normalise.py). Pairs with an empty side teach nothing: they are left out, counted, and the count is logged.

Reading has two halves, because only the second can be done in several processes: a `Text` hands out its records as they
lie there, in portions, and then turns each record into a pair.
"""

import hashlib
import logging
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from transformer.data.text_files import bytes_of, decode_line, portions_of, unreadable
from transformer.errors import CorpusError
from transformer.text.normalisation import clean, normalise

Pair = tuple[str, str]
log = logging.getLogger(__name__)

_EDGE = 1_000_000  # bytes


class Portion(NamedTuple):
    """Some records in a row."""

    first: int  # the number of the first of them, counted from 1
    records: list[Any]
    share: float  # of the text that has been read when these have, about


class Text(Protocol):
    """Parallel text that lies somewhere."""

    @property
    def name(self) -> str:
        """What messages call it."""

    @property
    def files(self) -> tuple[Path, ...]:
        """What it is read from. It is another text once one of them has changed."""

    @property
    def taken(self) -> str:
        """What is taken from the files."""

    @property
    def size(self) -> int:
        """In bytes, as it lies there; packed, if it is packed."""

    def portions(self) -> Iterator[Portion]:
        """All records, one a pair, as they lie there. Raises CorpusError."""

    def pair(self, number: int, record: Any) -> Pair:
        """What record number `number`, counted from 1, says. Raises CorpusError."""


@dataclass(frozen=True)
class Columns:
    """Two columns, counted from 1, of a `.tsv` or `.tsv.gz`."""

    path: Path
    source: int = 1
    target: int = 2

    @property
    def name(self) -> str:
        return str(self.path)

    @property
    def files(self) -> tuple[Path, ...]:
        return (self.path,)

    @property
    def taken(self) -> str:
        return f"columns {self.source} and {self.target}"

    @property
    def size(self) -> int:
        return bytes_of(self.path)

    def portions(self) -> Iterator[Portion]:
        if min(self.source, self.target) < 1:
            raise CorpusError(f"Columns are counted from 1; {self.source} and {self.target} were asked for.")
        first = 1
        for records, position in portions_of(self.path):
            yield Portion(first, [line for (line,) in records], position / self.size)
            first += len(records)

    def pair(self, number: int, record: bytes) -> Pair:
        line = decode_line(record, self.path, number)
        fields, needed = line.split("\t"), max(self.source, self.target)
        if len(fields) >= needed:
            return fields[self.source - 1], fields[self.target - 1]
        if not line.strip():  # a blank line is an empty pair, not a mistake
            return "", ""
        raise CorpusError(
            f"{self.path}, line {number}: there is no column {needed}, only {len(fields)}. "
            "Columns are separated by one TAB and counted from 1: mend the line, or choose other columns "
            "(data.source_column and data.target_column of a recipe, --source-column and --target-column of evaluate)."
        )


@dataclass(frozen=True)
class Aligned:
    """Two files of as many lines each, plain or .gz."""

    source: Path
    target: Path

    @property
    def name(self) -> str:
        return f"{self.source} and {self.target}"

    @property
    def files(self) -> tuple[Path, ...]:
        return self.source, self.target

    @property
    def taken(self) -> str:
        return "lines"

    @property
    def size(self) -> int:
        return bytes_of(self.source) + bytes_of(self.target)

    def portions(self) -> Iterator[Portion]:
        portions, first = portions_of(*self.files), 1
        for records, position in portions:
            if not all(records[-1]):  # one of the files has ended
                lines = [first - 1, first - 1]
                for record in chain(records, (record for more, _ in portions for record in more)):
                    lines = [count + bool(line) for count, line in zip(lines, record, strict=True)]
                (few, short), (many, long) = sorted(zip(lines, self.files, strict=True))
                raise CorpusError(
                    f"{short} has {few} lines, {long} has {many}. The two must be aligned line by line: "
                    "line n of one is the translation of line n of the other."
                )
            yield Portion(first, records, position / self.size)
            first += len(records)

    def pair(self, number: int, record: tuple[bytes, bytes]) -> Pair:
        return decode_line(record[0], self.source, number), decode_line(record[1], self.target, number)


def stamp(text: Text) -> list[object]:
    """What tells a text from another, or from itself after a change, without reading it all: as with `make`, size and
    time of its files, and how they begin and end. Where they lie does not matter. Raises CorpusError."""
    found: list[object] = [text.taken]
    for path in text.files:
        try:
            with path.open("rb") as file:
                status, begin = path.stat(), file.read(_EDGE)
                file.seek(max(0, status.st_size - _EDGE))
                edges = hashlib.blake2b(begin + file.read(), digest_size=16).hexdigest()
        except OSError as error:
            raise unreadable(path, error) from None
        found.append([status.st_size, status.st_mtime_ns, edges])
    return found


def plain_pairs(text: Text, portion: Portion) -> Iterator[Pair]:
    """The pairs of a portion, sources normalised and targets cleaned, empty sides among them. Raises CorpusError."""
    for number, record in enumerate(portion.records, portion.first):
        source, target = text.pair(number, record)
        yield normalise(source), clean(target)


def check_usable(text: Text, read: int, empty: int) -> None:
    """Raises CorpusError where a text has no pair, or no pair with two sides."""
    if read == 0:
        raise CorpusError(f"{text.name}: the file is empty. Give a file with one pair of sentences a line.")
    if empty == read:
        raise CorpusError(f"{text.name}: on each of the {read} lines one side is empty. Are these the right columns?")


def read_all(texts: Iterable[Text]) -> list[Pair]:
    """All pairs with two sides, in memory: for validation and test sets. Raises CorpusError."""
    pairs: list[Pair] = []
    for text in texts:
        found = [pair for portion in text.portions() for pair in plain_pairs(text, portion)]
        usable = [pair for pair in found if all(pair)]
        check_usable(text, len(found), len(found) - len(usable))
        if len(usable) < len(found):
            empty = len(found) - len(usable)
            log.warning("%s: %d of %d pairs left out, for one side is empty.", text.name, empty, len(found))
        pairs += usable
    return pairs


def read_pairs(path: str | Path, source_column: int = 1, target_column: int = 2) -> list[Pair]:
    """All pairs of a `.tsv` or `.tsv.gz`, columns counted from 1. Raises CorpusError."""
    return read_all([Columns(Path(path), source_column, target_column)])
