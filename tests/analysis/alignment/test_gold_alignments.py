"""Gold alignments are read unchanged; an error in a file is reported with its line."""

from pathlib import Path

import pytest

from tests.support.small_alignment import LINE, write
from transformer.analysis.alignment.gold_alignments import read_gold
from transformer.errors import CorpusError


@pytest.mark.parametrize("name", ["gold.tsv", "gold.tsv.gz"])
def test_a_line_is_two_sentences_and_their_links_and_what_is_sure_is_possible(tmp_path: Path, name: str) -> None:
    (pair,) = read_gold(write(tmp_path / name, LINE, "", "  ")).pairs
    assert pair.source == ("the", "old", "house", "is", "rather", "small")
    assert pair.target == ("das", "alte", "haus", "ist", "klein")
    assert pair.sure == {(0, 0), (1, 1), (2, 2), (3, 3), (5, 4)}
    assert pair.possible == pair.sure | {(4, 4), (0, 2)}


def test_without_the_fourth_column_all_links_are_sure(tmp_path: Path) -> None:
    (pair,) = read_gold(write(tmp_path / "gold.tsv", "a b\tc d\t0-1 1-0")).pairs
    assert pair.sure == pair.possible == {(0, 1), (1, 0)}


def test_swapped_columns_reverse_their_links(tmp_path: Path) -> None:
    (pair,) = read_gold(write(tmp_path / "gold.tsv", LINE), swap=True).pairs
    assert pair.source[0] == "das"
    assert (4, 5) in pair.sure
    assert (4, 4) in pair.possible
    assert (2, 0) in pair.possible - pair.sure


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("a b\tc d", "2 columns instead of 3 or 4"),
        ("a\tb\t0-0\t0-0\tx", "5 columns instead of 3 or 4"),
        ("a b\tc d\t0:1\t0-1", "0:1 is not a link"),
        ("a b\tc d\t0--1", "0--1 is not a link"),
        ("a b\tc d\t0-2", "the link 0-2 points beyond the sentences, which have 2 and 2 words"),
        ("a b\tc d\t0-0\t2-1", "the link 2-1 points beyond"),
        ("a  b\tc d\t0-0", "a word is empty"),
        ("\tc d\t", "a word is empty"),
        ("a \u200b b\tc d\t0-0", "a word is empty"),
    ],
)
def test_an_invalid_line_is_named(tmp_path: Path, line: str, message: str) -> None:
    path = write(tmp_path / "gold.tsv", "a b\tc d\t0-0", line)
    with pytest.raises(CorpusError) as error:
        read_gold(path)
    assert f"{path}, line 2: " in str(error.value)
    assert message in str(error.value)


def test_a_file_that_counts_from_1_is_refused(tmp_path: Path) -> None:
    """Each link is inside its sentence, for the last words have none."""
    path = write(tmp_path / "gold.tsv", *["a b .\tc d .\t1-1 2-2"] * 5)
    with pytest.raises(CorpusError, match="seem to count from 1"):
        read_gold(path)
    read_gold(write(path, *["a b .\tc d .\t1-1 2-2"] * 4, "a b\tc d\t0-1"))


@pytest.mark.parametrize(
    ("lines", "message"), [([], "is empty"), ([""], "is empty"), (["a\tb\t\t0-0"], "no line has a sure link")]
)
def test_a_file_without_sure_links_is_refused(tmp_path: Path, lines: list[str], message: str) -> None:
    with pytest.raises(CorpusError, match=message):
        read_gold(write(tmp_path / "gold.tsv", *lines))


def test_a_line_that_is_not_utf8_is_named(tmp_path: Path) -> None:
    (tmp_path / "gold.tsv").write_bytes(b"a\tb\t0-0\n\xff\tb\t0-0\n")
    with pytest.raises(CorpusError, match="line 2: not UTF-8"):
        read_gold(tmp_path / "gold.tsv")
