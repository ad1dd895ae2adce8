"""Reading a corpus: files and columns, and what is said of lines that cannot be read."""

import bz2
import gzip
import io
import logging
import lzma
import os
import subprocess
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from transformer.data.corpus import Aligned, Columns, Pair, plain_pairs, read_all, read_pairs, stamp
from transformer.data.text_files import LONGEST_LINE, MOST_BYTES, bounded
from transformer.errors import CorpusError


def written(path: Path, content: str | bytes) -> Path:
    data = content.encode() if isinstance(content, str) else content
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def read_aligned(source: Path, target: Path) -> list[Pair]:
    return read_all([Aligned(source, target)])


def test_plain_and_gzip_files_give_the_same_pairs(tmp_path: Path) -> None:
    text = "Go.\tGeh.\nI'm tired.\tIch bin müde.\n"
    expected = [("Go.", "Geh."), ("I'm tired.", "Ich bin müde.")]
    assert read_pairs(written(tmp_path / "a.tsv", text)) == expected
    assert read_pairs(str(written(tmp_path / "a.tsv.gz", text))) == expected
    assert read_pairs(written(tmp_path / "packed.tsv", gzip.compress(text.encode()))) == expected


def test_columns_are_chosen_by_number_from_1(tmp_path: Path) -> None:
    path = written(tmp_path / "a.tsv", "8\ten\tde\tfr\n9\tEN\tDE\tFR\textra\n")
    assert read_pairs(path, 4, 2) == [("fr", "en"), ("FR", "EN")]


@pytest.mark.parametrize("columns", [(0, 1), (1, 0), (-1, 2)])
def test_a_column_below_1_is_refused(tmp_path: Path, columns: tuple[int, int]) -> None:
    with pytest.raises(CorpusError, match="counted from 1"):
        read_pairs(written(tmp_path / "a.tsv", "a\tb\n"), *columns)


def test_quotes_and_unicode_line_separators_are_text(tmp_path: Path) -> None:
    path = written(tmp_path / "a.tsv", '"Go\t"Geh\nHe said "x"\ter "y\nu\u2028v\x85w\x0bx\x1cy\tz\n')
    assert read_pairs(path) == [('"Go', '"Geh'), ('He said "x"', 'er "y'), ("u v w x y", "z")]


def test_windows_line_ends_a_byte_order_mark_and_a_missing_last_line_end_are_accepted(tmp_path: Path) -> None:
    path = written(tmp_path / "a.tsv", b"\xef\xbb\xbfGo.\tGeh.\r\nRun.\tLauf.")
    assert read_pairs(path) == [("Go.", "Geh."), ("Run.", "Lauf.")]


def test_line_ends_of_old_macs_are_refused(tmp_path: Path) -> None:
    for name in ("a.tsv", "a.tsv.gz"):
        path = written(tmp_path / name, "Go.\tGeh.\rRun.\tLauf.\r")
        with pytest.raises(CorpusError, match=r"a\.tsv.*: its lines end with .* \| tr '\\r' '\\n' >"):
            read_pairs(path)
    sides = written(tmp_path / "a.en", "Go.\rRun.\r"), written(tmp_path / "a.de", "Geh.\rLauf.\r")
    with pytest.raises(CorpusError, match=r"a\.en: its lines end"):
        read_aligned(*sides)
    assert read_pairs(written(tmp_path / "b.tsv", "Go\ron.\tGeh.\n")) == [("Go on.", "Geh.")]  # one in a sentence


def test_sources_are_normalised_and_targets_keep_their_typography(tmp_path: Path) -> None:
    path = written(tmp_path / "a.tsv", "“It’s\u00a0me”\t„Ich\u00a0bin’s\u200b“\n")
    assert read_pairs(path) == [('"It\'s me"', "„Ich bin’s“")]


def test_pairs_with_an_empty_side_are_left_out_and_counted(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = written(tmp_path / "a.tsv", "a\tb\n\tb\na\t\n \t \n\n\u200b\tx\nc\td\n\n")
    with caplog.at_level(logging.WARNING):
        assert read_pairs(path) == [("a", "b"), ("c", "d")]
    assert "6 of 8 pairs left out" in caplog.text
    assert str(path) in caplog.text


@pytest.mark.parametrize("name", ["a.tsv", "a.tsv.gz"])
def test_too_few_columns_are_reported_with_file_and_line(tmp_path: Path, name: str) -> None:
    path = written(tmp_path / name, "a\tb\nc\td\nonly one\ne\tf\n")
    with pytest.raises(
        CorpusError, match=r"line 3: there is no column 2, only 1\. .*TAB.*data\.target_column"
    ) as caught:
        read_pairs(path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("name", ["a.tsv", "a.tsv.gz"])
def test_a_line_that_is_not_utf8_is_reported_with_file_and_line(tmp_path: Path, name: str) -> None:
    path = written(tmp_path / name, "müde\tx\n".encode() + "m\xfcde\tx\n".encode("latin-1"))
    with pytest.raises(CorpusError, match=r"a\.tsv.*, line 2: not UTF-8 \(byte 0xFC at place 2\).*iconv -f LATIN1"):
        read_pairs(path)


def test_utf16_is_recognised(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match=r"line 1: not UTF-8.*iconv -f UTF-16"):
        read_pairs(written(tmp_path / "a.tsv", "a\tb\n".encode("utf-16")))


@pytest.mark.parametrize("name", ["a b.tsv", "a b.tsv.gz"])
@pytest.mark.parametrize("content", ["é\tx\n".encode("latin-1"), "é\tx\n".encode("utf-16"), "é\tx\ré\tx\r".encode()])
def test_the_command_in_the_message_converts_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, content: bytes
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("folder").mkdir()
    with pytest.raises(CorpusError) as raised:
        read_pairs(written(Path("folder") / name, content))
    command = str(raised.value).split("for example: ")[1].splitlines()[0]
    subprocess.run(command, shell=True, check=True)
    assert set(read_pairs("new-a b.tsv")) == {("é", "x")}


@pytest.mark.parametrize("name", ["a.tsv", "a.tsv.gz"])
def test_an_empty_file_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(CorpusError, match="the file is empty"):
        read_pairs(written(tmp_path / name, ""))


def test_a_file_of_empty_sides_only_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match=r"each of the 2 lines one side is empty.*right columns"):
        read_pairs(written(tmp_path / "a.tsv", "a\t\nb\t\n"))


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="there is no such file"):
        read_pairs(tmp_path / "none.tsv")
    with pytest.raises(CorpusError, match="cannot be read: Is a directory"):
        read_pairs(tmp_path)


def test_a_file_that_is_packed_in_another_way_is_named(tmp_path: Path) -> None:
    text = b"Go.\tGeh.\n" * 9
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("a.tsv", text)
    (tmp_path / "a.xz").write_bytes(lzma.compress(text))
    (tmp_path / "a.bz2").write_bytes(bz2.compress(text))
    for name, kind in (("a.zip", "a zip archive"), ("a.xz", "compressed with xz"), ("a.bz2", "compressed with bzip2")):
        with pytest.raises(CorpusError, match=rf"{name} is {kind}, not text\. Unpack it"):
            read_pairs(tmp_path / name)
    assert read_pairs(written(tmp_path / "b.tsv", "BZhang\tPK\n")) == [("BZhang", "PK")]


def test_a_damaged_gzip_file_is_refused(tmp_path: Path) -> None:
    good = gzip.compress(b"".join(b"%d\t%d\n" % (i, i * i) for i in range(5000)), mtime=0)
    path = tmp_path / "a.tsv.gz"
    for broken in (good[:5], good[: len(good) // 2], good[:-1], good[:-8] + bytes(8), b"no gzip at all\tx\n"):
        path.write_bytes(broken)
        with pytest.raises(CorpusError, match=r"after line \d+: the gzip file is damaged or cut off"):
            read_pairs(path)


def test_aligned_files_are_read_in_parallel(tmp_path: Path) -> None:
    source = written(tmp_path / "a.en", "Go.\n“Tab\there”\n\nEnd")
    target = written(tmp_path / "a.de.gz", "Geh.\n„Hier“\nnichts\nEnde\n")
    assert read_aligned(source, target) == [("Go.", "Geh."), ('"Tab here"', "„Hier“"), ("End", "Ende")]


@pytest.mark.parametrize("at_once", [1, 2, 3, 10_000])
@pytest.mark.parametrize("short_is_source", [True, False])
def test_files_of_unequal_length_are_reported_with_both_counts(
    tmp_path: Path, short_is_source: bool, at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("transformer.data.text_files.AT_ONCE", at_once)
    short, long = written(tmp_path / "short", "a\n" * 3), written(tmp_path / "long", "b\n" * 7)
    with pytest.raises(CorpusError, match=r"short has 3 lines, .*long has 7\. .*aligned line by line"):
        read_aligned(*((short, long) if short_is_source else (long, short)))


def test_aligned_files_name_the_one_that_is_missing_or_empty(tmp_path: Path) -> None:
    there = written(tmp_path / "there", "a\n")
    with pytest.raises(CorpusError, match="nowhere: there is no such file"):
        read_aligned(there, tmp_path / "nowhere")
    empty = written(tmp_path / "empty", "")
    with pytest.raises(CorpusError, match="empty has 0 lines"):
        read_aligned(there, empty)
    with pytest.raises(CorpusError, match="the file is empty"):
        read_aligned(empty, empty)


def test_files_are_read_in_portions_with_line_numbers(tmp_path: Path) -> None:
    path = written(tmp_path / "a.tsv", "a\tb\n" * 100_000 + "broken\n")
    for text in (Columns(path), Aligned(path, path)):
        portions = list(text.portions())
        assert [portion.first for portion in portions] == [*range(1, 100_002, 10_000)]
        assert sum(len(portion.records) for portion in portions) == 100_001
        assert portions[4].share == pytest.approx(0.5, abs=0.1)
        assert portions[-1].share == 1
        assert sum(1 for _ in plain_pairs(text, portions[3])) == 10_000
    with pytest.raises(CorpusError, match="line 100001"):
        list(plain_pairs(Columns(path), list(Columns(path).portions())[-1]))


class OneLine(io.RawIOBase):
    """A file that is one line of so many bytes, with another line after it."""

    def __init__(self, length: int):
        self._left = length

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        count = min(len(buffer), self._left)
        buffer[:count] = b"x" * count
        self._left -= count
        return count


def peak_memory(of: Callable[[], object]) -> int:
    """Bytes that Python allocated at once, at most."""
    tracemalloc.start()
    of()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


@pytest.mark.parametrize("name", ["a.tsv", "a.tsv.gz"])
def test_a_line_that_is_too_long_is_refused_with_its_number_in_little_memory(name: str, tmp_path: Path) -> None:
    long = b"a\tb\n" + b"x" * 30_000_000 + b"\ty\n"
    path, other = tmp_path / name, written(tmp_path / "other.de", "a\nb\n")
    path.write_bytes(gzip.compress(long, 1) if name.endswith("gz") else long)

    def read() -> None:
        for text in (Columns(path), Aligned(path, other)):
            (portion,) = text.portions()
            with pytest.raises(
                CorpusError, match=rf"{name}, line 2: it has more than 1,000,000 bytes.*Remove the line"
            ):
                list(plain_pairs(text, portion))

    assert peak_memory(read) < 6 * LONGEST_LINE


def test_only_the_beginning_of_a_line_that_is_too_long_is_kept() -> None:
    found = list[bytes]()
    lines = io.BufferedReader(OneLine(50_000_000))
    assert peak_memory(lambda: found.extend(bounded(lines))) < 5 * LONGEST_LINE
    assert found == [b"x" * (LONGEST_LINE + 1)]
    longest = b"x" * (LONGEST_LINE - 1) + b"\n"
    text = longest + b"y" + longest + b"z" + longest[:-1] + b"z\n" + b"\nend"
    assert [len(line) for line in bounded(io.BytesIO(text))] == [LONGEST_LINE, LONGEST_LINE + 1, LONGEST_LINE + 1, 1, 3]
    assert b"".join(bounded(io.BytesIO(b"a\r\n\n\rb\x85\n\x1cc"))) == b"a\r\n\n\rb\x85\n\x1cc"


def test_long_lines_come_in_small_portions(tmp_path: Path) -> None:
    path = written(tmp_path / "a.tsv", ("x" * 899_998 + "\t\n") * 90)
    for text, sides in ((Columns(path), 1), (Aligned(path, path), 2)):
        portions = list(text.portions())
        assert [portion.first for portion in portions] == list(range(1, 91, len(portions[0].records)))
        assert all(len(portion.records) * sides * 900_000 < MOST_BYTES + 32 * LONGEST_LINE for portion in portions)
        assert sum(len(portion.records) for portion in portions) == 90


def test_the_stamp_of_a_file_depends_on_its_content_and_not_on_its_path(tmp_path: Path) -> None:
    path = written(tmp_path / "a.tsv", "a\tb\n" * 1000)
    before = stamp(Columns(path))
    assert stamp(Columns(path.rename(tmp_path / "b.tsv"))) == before
    assert stamp(Columns(tmp_path / "b.tsv", 2, 1)) != before
    time = (tmp_path / "b.tsv").stat().st_mtime_ns
    written(tmp_path / "b.tsv", "a\tc\n" * 1000)
    os.utime(tmp_path / "b.tsv", ns=(time, time))  # of the same length and time
    assert stamp(Columns(tmp_path / "b.tsv")) != before
    with pytest.raises(CorpusError, match="there is no such file"):
        stamp(Aligned(tmp_path / "b.tsv", path))
