"""Lines that cannot be read end a run, or are skipped, counted and named."""

import json
import logging
import pickle
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from tests.support.small_training import corpus_recipe
from transformer.config import Recipe
from transformer.data.corpus import Columns, read_all
from transformer.data.training_data import TrainingData
from transformer.errors import BadLine, CorpusError
from transformer.training.resume_check import differences

LONG = b"x" * 1_000_001
KINDS = {"not UTF-8": b"caf\xe9\tKaffee", "no column 2": b"no tab", "more than 1,000,000 bytes": LONG}
# An empty pair, a third column and U+2028 are no faults.
FINE = b"\n\t\nab\tcd\tef\na\xe2\x80\xa8b\tc\n"


@pytest.fixture(autouse=True)
def small_portions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("transformer.data.text_files.AT_ONCE", 40)


def with_bad_lines(folder: Path, *bad: bytes, **data: Any) -> Recipe:
    """A recipe whose corpus has bad lines in places 6, 16, 26, ... among 150 good ones."""
    recipe = corpus_recipe(folder)
    corpus = Path(recipe.data.train[0])
    good = corpus.read_bytes().splitlines()
    for number, line in enumerate(bad):
        good.insert(5 + 10 * number, line)
    corpus.write_bytes(b"\n".join(good) + b"\n" + FINE)
    return replace(recipe, data=replace(recipe.data, **data))


def test_bad_lines_of_every_kind_are_skipped_counted_and_named(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    recipe = with_bad_lines(tmp_path, *KINDS.values(), *[b"more"] * 10, on_error="skip", skip_limit=0.1)
    run = tmp_path / "run"
    for _ in range(2):  # also when the prepared text is found again
        with caplog.at_level(logging.INFO):
            data = TrainingData(recipe, run)
        assert "corpus.tsv: 13 of 167 lines (7.78%) cannot be read; the first of them:" in caplog.text
        for number, kind in enumerate(KINDS):
            assert f"corpus.tsv, line {6 + 10 * number}:" in caplog.text
            assert kind in caplog.text
        assert caplog.text.count("corpus.tsv, line") == 10
        assert "167 pairs read: 13 that cannot be read, 2 with an empty side" in caplog.text
        caplog.clear()
    counts = json.loads((run / "corpus.json").read_text())
    assert (counts["read"], counts["skipped"], counts["empty"]) == (167, 13, 2)
    assert counts["learnt"] == data.size == 152 - len(data.valid_pairs) - counts["like_validation"]
    (part,) = json.loads((run / "corpus-files.json").read_text())
    assert (part["skipped"], len(part["first_skipped"])) == (13, 10)
    assert data.files[0]["skipped"] == 13  # in each checkpoint


def test_by_default_the_first_bad_line_ends_the_run(tmp_path: Path) -> None:
    for kind, line in KINDS.items():
        folder = tmp_path / kind
        folder.mkdir()
        with pytest.raises(CorpusError, match=rf'(?s)corpus\.tsv, line 6: .*{kind}.*data\.on_error = "skip"'):
            TrainingData(with_bad_lines(folder, line, b"more"), folder / "run")


def test_more_bad_lines_than_the_limit_end_the_run_with_their_names(tmp_path: Path) -> None:
    recipe = with_bad_lines(tmp_path, b"one", b"two", on_error="skip")
    with pytest.raises(CorpusError) as raised:
        TrainingData(recipe, tmp_path / "run")
    message = str(raised.value)
    assert "2 of 156 lines (1.28%) cannot be read; they are:\n" in message
    assert "corpus.tsv, line 16: there is no column 2, only 1." in message
    assert "more than data.skip_limit = 0.01 allows" in message
    TrainingData(replace(recipe, data=replace(recipe.data, skip_limit=0.02)), tmp_path / "run")


def test_bad_lines_of_aligned_files_and_of_validation_text_are_skipped_too(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    source, target = tmp_path / "a.en", tmp_path / "a.de"
    source.write_bytes(b"".join(b"number %d\n" % number for number in range(120)))
    target.write_bytes(b"".join(b"Zahl %d\n" % number if number != 50 else b"Z\xe4hl\n" for number in range(120)))
    valid = tmp_path / "valid.tsv"
    valid.write_bytes(b"word 3\tWort 3\nbad\nword 4\tWort 4\n")
    recipe = corpus_recipe(tmp_path)
    data = replace(recipe.data, train=(str(source),), train_target=(str(target),), on_error="skip")
    found = TrainingData(replace(recipe, data=data), tmp_path / "aligned")
    assert json.loads((tmp_path / "aligned" / "corpus.json").read_text())["skipped"] == 1
    assert found.size + len(found.valid_pairs) == 119
    data = replace(recipe.data, valid=str(valid), on_error="skip", skip_limit=0.4)
    found = TrainingData(replace(recipe, data=data), tmp_path / "validated")
    assert found.valid_pairs == [("word 3", "Wort 3"), ("word 4", "Wort 4")]
    assert "valid.tsv: 1 of 3 lines (33.33%) cannot be read; they are:" in caplog.text
    with pytest.raises(CorpusError, match=r"valid\.tsv: 1 of 3 .*\n.*\n.*data\.skip_limit = 0\.01"):
        TrainingData(replace(recipe, data=replace(data, skip_limit=0.01)), tmp_path / "refused")


def test_what_concerns_a_whole_file_is_never_skipped(tmp_path: Path) -> None:
    recipe = corpus_recipe(tmp_path)
    corpus, good = Path(recipe.data.train[0]), "one\teins\ntwo\tzwei\n"
    data = replace(recipe.data, on_error="skip", skip_limit=1.0)
    for content, expected in (
        (good.replace("\n", "\r").encode(), "lines end with"),
        (good.encode("utf-16"), "UTF-16"),
        (b"\x1f\x8b" + bytes(30), "gzip file is damaged"),
        (b"one\ntwo\n", r"2 of 2 lines \(100\.00%\) cannot be read; they are:\n.*line 1: .*\n.*\nSo no line is left"),
        (b"one\n\ttwo\n", "of the 2 lines 1 cannot be read, and on the others one side is empty"),
    ):
        corpus.write_bytes(content)
        with pytest.raises(CorpusError, match=expected):
            TrainingData(replace(recipe, data=data), tmp_path / "run")
        with pytest.raises(CorpusError, match=expected):
            read_all([Columns(corpus)], skip_limit=1.0)  # as text for validation


def test_a_run_may_be_resumed_with_the_other_way_to_treat_bad_lines(tmp_path: Path) -> None:
    """The text is compared itself."""
    before = corpus_recipe(tmp_path)
    now = replace(before, data=replace(before.data, on_error="skip", skip_limit=0.5))
    assert not differences(asdict(before), now)


def test_the_error_of_a_bad_line_is_the_same_in_another_process() -> None:
    error = BadLine("a.tsv, line 3: not UTF-8.", "Convert the file.")
    copied = pickle.loads(pickle.dumps(error))
    assert (str(copied), copied.found) == (str(error), error.found)
    assert str(error) == "a.tsv, line 3: not UTF-8. Convert the file."
