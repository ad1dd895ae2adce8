"""Lines of text files, gzip or not, in portions; and errors of files that cannot be read.

A line ends at "\\n" only, because a sentence may contain U+2028.
"""

import codecs
import gzip
import shlex
import zlib
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice, zip_longest
from pathlib import Path
from typing import IO, TypeVar, cast

from transformer.errors import BadLine, CorpusError

AT_ONCE = 10_000  # lines in one portion
LONGEST_LINE = 1_000_000  # bytes with the line end: 1,000 long sentences
MOST_BYTES = 16 * LONGEST_LINE  # approximately, in one portion; 10,000 sentences are 1 to 3 MB
NOT_TEXT = {  # by the first bytes of a file
    b"PK\x03\x04": "a zip archive",
    b"\xfd7zXZ\x00": "compressed with xz",
    b"(\xb5/\xfd": "compressed with zstd",
    b"BZh": "compressed with bzip2",
}

Line = TypeVar("Line")


def decode_line(line: bytes, path: Path, number: int) -> str:
    """A line without its line end.

    Raises:
        BadLine: this line cannot be read.
        CorpusError: no line of this file can be read.
    """
    if number == 1:
        line = line.removeprefix(codecs.BOM_UTF8)  # some editors write it
        if b"\r" in line.rstrip(b"\r\n") and not line.endswith(b"\n"):  # all pairs would be one line
            advice = _conversion(path, r"tr '\r' '\n'")
            raise CorpusError(f"{path}: its lines end with \\r alone, as on old Macs. {advice}")
        if line.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            raise CorpusError(f"{path}, line 1: not UTF-8, but UTF-16. {_conversion(path, 'iconv -f UTF-16 -t UTF-8')}")
    if len(line) > LONGEST_LINE:
        raise BadLine(
            f"{path}, line {number}: it has more than {LONGEST_LINE:,} bytes, so it is not a pair of sentences.",
            'Remove the line, or split it: a line ends at "\\n".',
        )
    try:
        return line.decode().rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise BadLine(
            f"{path}, line {number}: not UTF-8 (byte 0x{line[error.start]:02X} at place {error.start + 1}).",
            _conversion(path, "iconv -f LATIN1 -t UTF-8"),
        ) from None


def _conversion(path: Path, converter: str) -> str:
    """The advice to convert a file with this command, which reads the text and writes the new one."""
    read, new = "zcat" if path.suffix == ".gz" else "cat", shlex.quote(f"new-{path.name.removesuffix('.gz')}")
    return f"Convert the file, for example: {read} {shlex.quote(str(path))} | {converter} > {new}"


def unreadable(path: Path, error: OSError) -> CorpusError:
    """The error for a file that cannot be read."""
    if isinstance(error, FileNotFoundError):
        return CorpusError(f"{path}: there is no such file. Paths are relative to the current folder.")
    return CorpusError(f"{path} cannot be read: {error.strerror or error}.")


def bytes_of(path: Path) -> int:
    """The size of a file; 0 if it does not exist, because the error is raised when it is read."""
    return path.stat().st_size if path.exists() else 0


def bounded(file: IO[bytes]) -> Iterator[bytes]:
    """The lines of a file with their line ends. Of a line of more than `LONGEST_LINE` bytes only the first
    `LONGEST_LINE + 1` are yielded; the rest is read in parts and dropped, so memory does not depend on its length."""
    while line := file.readline(LONGEST_LINE + 1):
        yield line
        if len(line) > LONGEST_LINE:
            while line and not line.endswith(b"\n"):
                line = file.readline(LONGEST_LINE)


def in_portions(lines: Iterable[Line], most: int, size: Callable[[list[Line]], int]) -> Iterator[list[Line]]:
    """Lists of at most `most` lines and about `MOST_BYTES`, so memory does not depend on the length of lines. `size`
    returns the number of bytes of some lines."""
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
    """The lines of files, gzip or not, with their line ends; several files are read in parallel.

    Yields:
        At most `AT_ONCE` records, and how many bytes of the files have been read so far. A record is the n-th line
        of each file, or b"" for a file that is shorter. Of a line of more than `LONGEST_LINE` bytes a record has only
        the beginning, which `decode_line` refuses.

    Raises:
        CorpusError: a file cannot be read.
    """
    files = [_File(path) for path in paths]
    records = zip_longest(*(file.lines() for file in files), fillvalue=b"")
    for portion in in_portions(records, AT_ONCE, lambda some: sum(map(len, chain.from_iterable(some)))):
        yield portion, sum(file.read for file in files)


class _File:
    """A file that is read line by line."""

    def __init__(self, path: Path):
        self._path = path
        self._raw: IO[bytes] | None = None

    @property
    def read(self) -> int:
        """How many bytes of the file on disk were read."""
        if self._raw is None:
            return 0
        return bytes_of(self._path) if self._raw.closed else self._raw.tell()

    def lines(self) -> Iterator[bytes]:
        number, path = 0, self._path
        try:
            with open(path, "rb") as self._raw, unzipped(path, self._raw) as file:
                for line in bounded(file):
                    yield line
                    number += 1
        except (gzip.BadGzipFile, EOFError, zlib.error):
            raise CorpusError(
                f"{path}, after line {number}: the gzip file is damaged or cut off. Download or compress it again."
            ) from None
        except OSError as error:
            raise unreadable(path, error) from None


def unzipped(path: Path, raw: IO[bytes]) -> IO[bytes]:
    """The file, or its uncompressed content if its name or its first bytes are those of gzip. Raises CorpusError: it is
    packed in another way."""
    begin = raw.read(10)
    raw.seek(0)
    for magic, kind in NOT_TEXT.items():
        if begin.startswith(magic) and (magic != b"BZh" or begin[4:] == b"1AY&SY"):
            raise CorpusError(f"{path} is {kind}, not text. Unpack it, and name the text file in it (plain or .gz).")
    packed = path.suffix == ".gz" or begin.startswith(b"\x1f\x8b")
    return cast(IO[bytes], gzip.GzipFile(fileobj=raw)) if packed else raw
