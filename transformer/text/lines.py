"""Lines of text files, packed or not, in portions; and what is said of a file that cannot be read.

A line ends at "\\n" only, for a sentence may hold U+2028.
"""

import codecs
import gzip
import zlib
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import IO, cast

from transformer.errors import CorpusError

AT_ONCE = 10_000  # lines in one portion


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


def portions_of(path: Path) -> Iterator[tuple[list[bytes], int]]:
    """The lines of a file, gzip or not, with their line ends: `AT_ONCE` of them, and how many bytes of it were read."""
    number = 0
    try:
        with open(path, "rb") as raw, _unzipped(path, raw) as file:
            while True:
                lines: list[bytes] = []
                for line in islice(file, AT_ONCE):
                    lines.append(line)
                    number += 1
                if not lines:
                    return
                yield lines, raw.tell()
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
