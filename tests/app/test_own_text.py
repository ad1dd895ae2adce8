"""Uploaded pairs of sentences: what cannot be trained on is refused before there is a run."""

import gzip

import pytest

from app.views.training.own_text import MOST_MEGABYTES, LaunchError, read_own_text


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("x.tsv", b"x" * (MOST_MEGABYTES * 1_000_000 + 1), "larger than 20 MB"),
        ("x.gz", b"a\tb\n" * 50, "x.gz, after line 0: the gzip file is damaged"),
        ("x.tsv.gz", gzip.compress(b"a\tb\n" * 50)[:-9], "x.tsv.gz, after line .*: the gzip file is damaged"),
        ("x.gz", gzip.compress(b"a\t" + b"b" * 900_000 + b"\n") * 112, "larger than 100 MB when it is unpacked"),
        ("x.tsv", b"", "x.tsv: the file is empty"),
        ("x.tsv", b"one column\n" * 50, "x.tsv, line 1: there is no column 2"),
        ("x.tsv", b"\t\n" * 50, "x.tsv: on each of the 50 lines one side is empty"),
        ("x.tsv", b"\x7fELF\xff\xfe\n" * 50, "x.tsv, line 1: not UTF-8"),
        ("x.tsv", b"a\tb\n" * 5, "x.tsv has 5 pairs of sentences, and 20 are needed"),
    ],
)
def test_text_that_cannot_be_trained_on_is_refused_with_the_name_that_it_had(
    name: str, content: bytes, sentence: str
) -> None:
    with pytest.raises(LaunchError, match=sentence) as refused:
        read_own_text(name, content)
    assert "headlight-" not in str(refused.value)
