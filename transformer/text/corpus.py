"""Parallel text from files: `.tsv` or `.tsv.gz`, one pair a line, or two files aligned line by line.

A field is what stands between two TABs, nothing more: no CSV quoting, for a sentence may hold a bare `"`, and the
line ends at "\\n" only, for a sentence may hold U+2028. Everything is read as a stream; what is wrong is told with
file and line. Sources come out normalised (as the translator will normalise what a user types), targets cleaned
(see normalise.py). Pairs with an empty side teach nothing: they are left out, counted, and the count is logged.
"""

import codecs
import gzip
import logging
import zlib
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from typing import IO, cast

from transformer.errors import CorpusError
from transformer.text.normalise import clean, normalise

Pair = tuple[str, str]
log = logging.getLogger(__name__)


def read_pairs(path: str | Path, source_column: int = 1, target_column: int = 2) -> list[Pair]:
    """All pairs of a `.tsv` or `.tsv.gz`, columns counted from 1. Raises CorpusError."""
    return list(iterate_pairs(path, source_column, target_column))


def read_aligned(source_path: str | Path, target_path: str | Path) -> list[Pair]:
    """All pairs of two files of as many lines each (plain or .gz). Raises CorpusError."""
    return list(iterate_aligned(source_path, target_path))


def iterate_pairs(path: str | Path, source_column: int = 1, target_column: int = 2) -> Iterator[Pair]:
    """`read_pairs` one at a time, for corpora that should not lie in memory."""
    path, needed = Path(path), max(source_column, target_column)
    if min(source_column, target_column) < 1:
        raise CorpusError(f"Columns are counted from 1; {source_column} and {target_column} were asked for.")
    return _usable(_columns(path, source_column - 1, target_column - 1, needed), str(path))


def iterate_aligned(source_path: str | Path, target_path: str | Path) -> Iterator[Pair]:
    """`read_aligned` one at a time."""
    return _usable(_aligned(Path(source_path), Path(target_path)), f"{source_path} and {target_path}")


def _columns(path: Path, source: int, target: int, needed: int) -> Iterator[Pair]:
    for number, line in enumerate(_lines(path), 1):
        fields = line.split("\t")
        if len(fields) < needed:
            if not line.strip():  # a blank line is an empty pair, not a mistake
                yield "", ""
                continue
            raise CorpusError(
                f"{path}, line {number}: there is no column {needed}, only {len(fields)}. "
                "Columns are separated by one TAB and counted from 1: mend the line, or choose other columns "
                "(data.source_column, data.target_column)."
            )
        yield fields[source], fields[target]


def _aligned(source_path: Path, target_path: Path) -> Iterator[Pair]:
    sources, targets = _lines(source_path), _lines(target_path)
    for number, (source, target) in enumerate(zip_longest(sources, targets), 1):
        if source is None or target is None:
            short, long = (source_path, target_path) if source is None else (target_path, source_path)
            lines = number + sum(1 for _ in (targets if source is None else sources))
            raise CorpusError(
                f"{short} has {number - 1} lines, {long} has {lines}. The two must be aligned line by line: "
                "line n of one is the translation of line n of the other."
            )
        yield source, target


def _usable(pairs: Iterator[Pair], where: str) -> Iterator[Pair]:
    read = empty = 0
    for source, target in pairs:
        read += 1
        pair = normalise(source), clean(target)
        if all(pair):
            yield pair
        else:
            empty += 1
    if read == 0:
        raise CorpusError(f"{where}: the file is empty. Give a file with one pair of sentences a line.")
    if empty == read:
        raise CorpusError(f"{where}: on each of the {read} lines one side is empty. Are these the right columns?")
    if empty:
        log.warning("%s: %d of %d pairs left out, for one side is empty.", where, empty, read)


def _lines(path: Path) -> Iterator[str]:
    """The lines of a text file, gzip or not, without their line ends."""
    number = 0
    try:
        with open(path, "rb") as raw, _unzipped(path, raw) as file:
            for number, line in enumerate(file, 1):
                if number == 1:
                    line = line.removeprefix(codecs.BOM_UTF8)  # some editors write one
                yield line.decode().rstrip("\r\n")
    except UnicodeDecodeError as error:
        utf16 = number == 1 and error.object.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
        raise CorpusError(
            f"{path}, line {number}: not UTF-8 (byte 0x{error.object[error.start]:02X} at place {error.start + 1}). "
            f"Convert the file, for example: iconv -f {'UTF-16' if utf16 else 'LATIN1'} -t UTF-8 {path.name}"
        ) from None
    except (gzip.BadGzipFile, EOFError, zlib.error):
        raise CorpusError(
            f"{path}, after line {number}: the gzip file is broken or cut short. Fetch it or compress it again."
        ) from None
    except FileNotFoundError:
        raise CorpusError(f"{path}: there is no such file. Paths are taken from the folder you are in.") from None
    except OSError as error:
        raise CorpusError(f"{path} cannot be read: {error.strerror or error}.") from None


def _unzipped(path: Path, raw: IO[bytes]) -> IO[bytes]:
    """The file, or what is packed in it: told by its name, or by its first bytes whatever its name."""
    packed = path.suffix == ".gz" or raw.read(2) == b"\x1f\x8b"
    raw.seek(0)
    return cast(IO[bytes], gzip.GzipFile(fileobj=raw)) if packed else raw
