"""Lines of text files, packed or not, in portions; and what is said of a file that cannot be read.

A line ends at "\\n" only, for a sentence may hold U+2028.
"""

import codecs
import gzip
import zlib
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice, zip_longest
from pathlib import Path
from typing import IO, TypeVar, cast

from transformer.errors import CorpusError

AT_ONCE = 10_000  # lines in one portion
LONGEST_LINE = 1_000_000  # bytes with the line end: a thousand times a long sentence
MOST_BYTES = 16 * LONGEST_LINE  # about, in one portion; 10,000 sentences are 1 to 3 MB

Line = TypeVar("Line")


def decode_line(line: bytes, path: Path, number: int) -> str:
    """A line without its line end."""
    if number == 1:
        line = line.removeprefix(codecs.BOM_UTF8)  # some editors write one
        if b"\r" in line.rstrip(b"\r\n") and not line.endswith(b"\n"):  # all pairs would be one, and nearly all be lost
            raise CorpusError(
                f"{path}: its lines end as on old Macs (\\r alone). Convert the file, for example: "
                f"tr '\\r' '\\n' < {path.name} > new-{path.name}"
            )
    try:
        return line.decode().rstrip("\r\n")
    except UnicodeDecodeError as error:
        utf16 = number == 1 and line.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
        raise CorpusError(
            f"{path}, line {number}: not UTF-8 (byte 0x{line[error.start]:02X} at place {error.start + 1}). "
            f"Convert the file, for example: iconv -f {'UTF-16' if utf16 else 'LATIN1'} -t UTF-8 {path.name}"
        ) from None


def unreadable(path: Path, error: OSError) -> CorpusError:
    """The error that says so."""
    if isinstance(error, FileNotFoundError):
        return CorpusError(f"{path}: there is no such file. Paths are taken from the folder you are in.")
    return CorpusError(f"{path} cannot be read: {error.strerror or error}.")


def bytes_of(path: Path) -> int:
    """In bytes; 0 for a file that is not there, which reading will tell."""
    return path.stat().st_size if path.exists() else 0


def bounded(file: IO[bytes]) -> Iterator[bytes]:
    """The lines of a file with their line ends. Of a line of more than `LONGEST_LINE` bytes only its beginning comes,
    one byte more than that; the rest is read in parts and forgotten, so that memory does not depend on it."""
    while line := file.readline(LONGEST_LINE + 1):
        yield line
        if len(line) > LONGEST_LINE:
            while line and not line.endswith(b"\n"):
                line = file.readline(LONGEST_LINE)


def in_portions(lines: Iterable[Line], most: int, size: Callable[[list[Line]], int]) -> Iterator[list[Line]]:
    """At most `most` lines together, and not many more than `MOST_BYTES`, so that memory does not depend on their
    length. `size`: of some lines, in bytes."""
    stream, portion, held = iter(lines), list[Line](), 0
    while some := list(islice(stream, min(16, most - len(portion)))):
        portion += some
        held += size(some)
        if len(portion) == most or held >= MOST_BYTES:
            yield portion
            portion, held = [], 0
    if portion:
        yield portion


def portions_of(*paths: Path) -> Iterator[tuple[list[tuple[bytes, ...]], int]]:
    """The lines of files, gzip or not, with their line ends; several files are read side by side.

    Yields:
        At most `AT_ONCE` records, and how many bytes of the files were read. A record has the n-th line of each file,
        and b"" for a file that has no n-th line.

    Raises:
        CorpusError: a file cannot be read, or has a line of more than `LONGEST_LINE` bytes.
    """
    files = [_File(path) for path in paths]
    records = zip_longest(*(file.lines() for file in files), fillvalue=b"")
    for portion in in_portions(records, AT_ONCE, lambda some: sum(map(len, chain.from_iterable(some)))):
        yield portion, sum(file.read for file in files)


class _File:
    """A file that is read line by line. `read`: how many bytes of it were read."""

    def __init__(self, path: Path):
        self._path = path
        self._raw: IO[bytes] | None = None

    @property
    def read(self) -> int:
        """In bytes, as they are on the disk."""
        if self._raw is None:
            return 0
        return bytes_of(self._path) if self._raw.closed else self._raw.tell()

    def lines(self) -> Iterator[bytes]:
        number, path = 0, self._path
        try:
            with open(path, "rb") as self._raw, _unzipped(path, self._raw) as file:
                for number, line in enumerate(bounded(file), start=1):
                    if len(line) > LONGEST_LINE:
                        raise CorpusError(
                            f"{path}, line {number}: it has more than {LONGEST_LINE:,} bytes, so it is not a pair of "
                            'sentences. Remove the line, or split it: a line ends at "\\n".'
                        )
                    yield line
        except (gzip.BadGzipFile, EOFError, zlib.error):
            raise CorpusError(
                f"{path}, after line {number}: the gzip file is broken or cut short. Fetch it or compress it again."
            ) from None
        except OSError as error:
            raise unreadable(path, error) from None


def _unzipped(path: Path, raw: IO[bytes]) -> IO[bytes]:
    """The file, or what is packed in it: told by its name, or by its first bytes whatever its name."""
    packed = path.suffix == ".gz" or raw.read(2) == b"\x1f\x8b"
    raw.seek(0)
    return cast(IO[bytes], gzip.GzipFile(fileobj=raw)) if packed else raw
