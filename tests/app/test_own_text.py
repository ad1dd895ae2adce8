"""Uploaded pairs of sentences: what cannot be trained on is refused before there is a run."""

import gzip

import pytest

from app.views.training.own_text import MOST_MEGABYTES, read_own_text
from app.views.training.run_permission import LaunchError


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("x.tsv", b"x" * (MOST_MEGABYTES * 1_000_000 + 1), "larger than 20 MB"),
        ("x.gz", b"a\tb\n" * 50, "x.gz, after line 0: the gzip file is damaged"),
        ("x.tsv.gz", gzip.compress(b"a\tb\n" * 50)[:-9], "x.tsv.gz, after line .*: the gzip file is damaged"),
        ("x.gz", gzip.compress(b"a\t" + b"b" * 900_000 + b"\n") * 112, "larger than 100 MB when it is unpacked"),
        ("x.tsv", b"", "x.tsv: the file is empty"),
        (
            "x.tsv",
            b"one column\n" * 50,
            r"(?s)x.tsv: 50 of 50 lines \(100.00%\) .*\nline 1: there is no column 2, only 1",
        ),
        ("x.tsv", b"\t\n" * 50, "x.tsv: on each of the 50 lines one side is empty"),
        ("x.tsv", b"\x7fELF\xff\xfe\n" * 50, r"(?s)50 of 50 .*\nline 1: not UTF-8"),
        ("x.tsv", b"a\tb\nc\td\n" * 50, "x.tsv has 2 pairs of sentences, without repeats, and 20 are needed"),
    ],
)
def test_text_that_cannot_be_trained_on_is_refused_with_the_name_that_it_had(
    name: str, content: bytes, sentence: str
) -> None:
    with pytest.raises(LaunchError, match=sentence) as refused:
        read_own_text(name, content)
    assert "headlight-" not in str(refused.value)


BAD = {7: b"no TAB here\n", 50: b"caf\xe9\tKaffee\n", 98: b"x" * 1_000_001 + b"\n"}


def text_with(bad: dict[int, bytes], lines: int) -> bytes:
    """Pairs, with other lines at these numbers. An empty line is no bad line."""
    good = {1: b"\t\n", 2: b"\n"}
    return b"".join((bad | good).get(number, b"a %d\tb %d\n" % (number, number)) for number in range(1, lines + 1))


def test_a_few_bad_lines_are_counted_and_named_without_the_folder_of_the_server() -> None:
    text = read_own_text("x.tsv", text_with(BAD, 300))
    assert (text.pairs, text.first, text.bad.count, text.bad.read) == (295, ("a 3", "b 3"), 3, 300)
    assert text.bad.may_be_skipped
    assert text.bad.described("x.tsv").splitlines() == [
        "x.tsv: 3 of 300 lines (1.00%) cannot be read as pairs.",
        "line 7: there is no column 2, only 1.",
        "line 50: not UTF-8 (byte 0xE9 at place 4).",
        "line 98: it has more than 1,000,000 bytes, so it is not a pair of sentences.",
    ]
    assert not read_own_text("x.tsv", text_with({}, 300)).bad


def test_of_many_bad_lines_ten_are_named() -> None:
    text = read_own_text("x.tsv.gz", gzip.compress(text_with(dict.fromkeys(range(100, 112), b"bad\n"), 1200)))
    lines = text.bad.described("x.tsv.gz").splitlines()
    assert lines[:2] == [
        "x.tsv.gz: 12 of 1,200 lines (1.00%) cannot be read as pairs.",
        "line 100: there is no column 2, only 1.",
    ]
    assert (len(lines), lines[-2:]) == (12, ["line 109: there is no column 2, only 1.", "and 2 more"])


def test_more_bad_lines_than_the_command_line_skips_are_refused_with_what_to_do() -> None:
    with pytest.raises(LaunchError) as refused:
        read_own_text("x.tsv", text_with(BAD, 299))
    message = str(refused.value)
    assert message.startswith("x.tsv: 3 of 299 lines (1.00%) cannot be read as pairs.\nline 7: there is no column 2")
    assert "At most 1% of the lines can be skipped." in message
    assert "Correct the file and upload it again." in message
    with pytest.raises(LaunchError) as refused:
        read_own_text("x.csv", b"one, eins\n" * 50)
    assert "can be skipped" not in str(refused.value)
    assert "Each line needs a sentence, a TAB and its translation, in UTF-8" in str(refused.value)


def test_a_file_whose_name_ends_like_ours_is_named_once() -> None:
    with pytest.raises(LaunchError) as caught:
        read_own_text("own-text.tsv", b"", 1)
    assert "own-own" not in str(caught.value)
    assert "own-text.tsv" in str(caught.value)
