"""Parallel text from files: `.tsv` or `.tsv.gz`, one pair per line, or two files aligned line by line.

Fields are separated by TABs, without CSV quoting, because a sentence may contain a single `"`. A line ends at "\\n"
only, because a sentence may contain U+2028. Everything is read as a stream, and errors name file and line; lines that
cannot be read may be skipped (skipped_lines.py). Sources are normalised (as the translator normalises its input),
targets cleaned (text/normalisation.py). Pairs with an empty side are left out, counted, and the count is logged.

Reading has two steps, because only the second can be done in several processes: a `Text` yields its records undecoded,
in portions, and then turns each record into a pair.
"""

import hashlib
import logging
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from transformer.data.skipped_lines import SkippedLines
from transformer.data.text_files import bytes_of, decode_line, portions_of, unreadable
from transformer.errors import BadLine, CorpusError
from transformer.text.normalisation import clean, normalise

Pair = tuple[str, str]
log = logging.getLogger(__name__)

_EDGE = 1_000_000  # bytes at the beginning and at the end of a file, which `stamp` reads


class Portion(NamedTuple):
    """Consecutive records."""

    first: int  # the number of the first of them, counted from 1
    records: list[Any]
    share: float  # how much of the text has been read after this portion (0 to 1), approximately


class Text(ABC):
    """Parallel text.

    Attributes:
        name: its name in messages.
        files: the files that it is read from.
        selection: which part of the files is read.
    """

    name: str
    files: tuple[Path, ...]
    selection: str

    @property
    def size(self) -> int:
        """Bytes on disk, compressed if the files are."""
        return sum(bytes_of(path) for path in self.files)

    @abstractmethod
    def portions(self) -> Iterator[Portion]:
        """All records, one per pair, undecoded. Raises CorpusError."""

    @abstractmethod
    def pair(self, number: int, record: Any) -> Pair:
        """The pair of record number `number`, counted from 1. Raises BadLine, or CorpusError if no record of the file
        can be read."""


class Columns(Text):
    """Two columns, counted from 1, of a `.tsv` or `.tsv.gz`."""

    def __init__(self, path: Path, source: int = 1, target: int = 2):
        self.name, self.files, self.selection = str(path), (path,), f"columns {source} and {target}"
        self._source, self._target = source, target

    def portions(self) -> Iterator[Portion]:
        if min(self._source, self._target) < 1:
            raise CorpusError(f"Columns are counted from 1; {self.selection} do not exist.")
        first = 1
        for records, position in portions_of(*self.files):
            yield Portion(first, [line for (line,) in records], position / self.size)
            first += len(records)

    def pair(self, number: int, record: bytes) -> Pair:
        line = decode_line(record, self.files[0], number)
        fields, needed = line.split("\t"), max(self._source, self._target)
        if len(fields) >= needed:
            return fields[self._source - 1], fields[self._target - 1]
        if not line.strip():  # a blank line is an empty pair, not an error
            return "", ""
        raise BadLine(
            f"{self.name}, line {number}: there is no column {needed}, only {len(fields)}.",
            "Columns are separated by one TAB and counted from 1: correct the line, or choose other columns "
            "(data.source_column and data.target_column of a recipe, --source-column and --target-column of evaluate).",
        )


def numbered_lines(path: Path) -> Iterator[tuple[int, str]]:
    """The lines of a file, plain or .gz, with their numbers, counted from 1; blank ones are left out.

    Raises:
        CorpusError: the file or a line of it cannot be read.
    """
    for portion in Columns(path).portions():
        for number, record in enumerate(portion.records, portion.first):
            line = decode_line(record, path, number)
            if line.strip():
                yield number, line


class Aligned(Text):
    """Two files with the same number of lines, plain or .gz."""

    def __init__(self, source: Path, target: Path):
        self.name, self.files, self.selection = f"{source} and {target}", (source, target), "lines"

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
        source, target = (decode_line(line, file, number) for line, file in zip(record, self.files, strict=True))
        return source, target


def stamp(text: Text) -> list[object]:
    """A fingerprint of the text that changes when a file changes: size, time of change, beginning and end of each file.
    No file is read as a whole, and a file may move to another folder. Raises CorpusError."""
    found: list[object] = [text.selection]
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


def plain_pairs(text: Text, portion: Portion, skipped: SkippedLines | None = None) -> Iterator[Pair]:
    """The pairs of `raw_pairs`, sources normalised, targets cleaned, empty sides included."""
    return map(plain, raw_pairs(text, portion, skipped))


def raw_pairs(text: Text, portion: Portion, skipped: SkippedLines | None = None) -> Iterator[Pair]:
    """The pairs of a portion as the files have them. Lines that cannot be read are added to `skipped`; if it is None,
    the first of them raises BadLine."""
    for number, record in enumerate(portion.records, portion.first):
        try:
            yield text.pair(number, record)
        except BadLine as error:
            if skipped is None:
                raise
            skipped.add(error)


def plain(pair: Pair) -> Pair:
    """The source normalised, the target cleaned."""
    source, target = pair
    return normalise(source), clean(target)


def check_usable(text: Text, read: int, empty: int, skipped: int = 0) -> None:
    """Raises CorpusError if a text has no pair, or if every pair has an empty side. `read` includes skipped lines."""
    if read == 0:
        raise CorpusError(f"{text.name}: the file is empty. Give a file with one pair of sentences per line.")
    if empty == read:
        raise CorpusError(f"{text.name}: on each of the {read} lines one side is empty. Are these the right columns?")
    if empty + skipped == read:
        raise CorpusError(
            f"{text.name}: of the {read} lines {skipped} cannot be read, and on the others one side is empty. Give "
            "other text."
        )


def read_all(texts: Iterable[Text], skip_limit: float | None = None) -> list[Pair]:
    """All pairs without an empty side, in memory: for validation and test sets.

    Args:
        skip_limit: the largest share of the lines of a text that may be skipped because they cannot be read; None: a
            line that cannot be read is an error.

    Raises:
        CorpusError: a text cannot be read, or has no pair without an empty side.
    """
    pairs: list[Pair] = []
    for text in texts:
        skipped = None if skip_limit is None else SkippedLines()
        rows = read_rows(text, skipped)
        if skipped and skip_limit is not None:
            read = len(rows) + skipped.count
            skipped.check(text.name, read, skip_limit)
            log.warning("%s", skipped.described(text.name, read))
        pairs += usable_pairs(text, rows, skipped.count if skipped else 0)
    return pairs


def read_rows(text: Text, skipped: SkippedLines | None = None) -> list[Pair]:
    """All pairs of a text, in memory and in its order, those with an empty side included. Raises CorpusError."""
    return [pair for portion in text.portions() for pair in plain_pairs(text, portion, skipped)]


def usable_pairs(text: Text, rows: Sequence[Pair], skipped: int = 0) -> list[Pair]:
    """The rows without an empty side; logs how many others there are. Raises CorpusError if all have an empty side.

    Args:
        skipped: how many lines of the text are not among the rows, because they cannot be read.
    """
    usable = [pair for pair in rows if all(pair)]
    empty = len(rows) - len(usable)
    check_usable(text, len(rows) + skipped, empty, skipped)
    if empty:
        log.warning("%s: %d of %d pairs left out, because one side is empty.", text.name, empty, len(rows))
    return usable


def read_pairs(path: str | Path, source_column: int = 1, target_column: int = 2) -> list[Pair]:
    """All pairs of a `.tsv` or `.tsv.gz`, columns counted from 1. Raises CorpusError."""
    return read_all([Columns(Path(path), source_column, target_column)])
