"""What is left out of a text, and how it is counted."""

import json
import random
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from transformer.data.cleaning import Counts, fault, repeated
from transformer.data.corpus import Columns
from transformer.data.data_options import DataConfig
from transformer.data.parts import Part
from transformer.data.prepared_text import TrainingText
from transformer.data.text_preparation import write_text

DATA = DataConfig(train=("corpus.tsv",), valid_size=1)


def cleaned(lines: list[str], config: DataConfig, tmp_path: Path) -> tuple[list[tuple[str, str]], Counts]:
    """The usable pairs of these lines, and the counts; nothing is set aside."""
    (tmp_path / "corpus.tsv").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    folder = tmp_path / "text"
    folder.mkdir()
    write_text([Part("corpus", Columns(tmp_path / "corpus.tsv"))], [], config, 1, folder)
    text = TrainingText(folder)
    return [pair for block in range(text.blocks) for pair in text.pairs(block)], text.counts


def test_by_default_only_pairs_with_an_empty_side_are_left_out(tmp_path: Path) -> None:
    lines = ["a\tb", "a\tb", "same\tsame", "x\t" + 100 * "y"]
    found, counts = cleaned(lines, DATA, tmp_path)
    assert ["\t".join(pair) for pair in found] == lines
    assert counts == Counts(read=4, learnt=4)


def test_each_pair_left_out_is_counted_once_with_its_first_reason(tmp_path: Path) -> None:
    config = replace(DATA, max_ratio=3.0, drop_copies=True, drop_duplicates=True)
    lines = [
        "a\tb",
        "\tb",
        "a\tb",
        "same\t same",
        "“same”\t„same“",
        "x\tyyyy",
        "xx\tyyyyyy",
        "yyyy\tx",
        "a\tB",
        "a\tb",
        " \t",
    ]
    found, counts = cleaned(lines, config, tmp_path)
    assert found == [("a", "b"), ('"same"', "„same“"), ("xx", "yyyyyy"), ("a", "B")]
    assert counts == Counts(read=11, empty=2, copies=1, unequal=2, duplicates=2, learnt=4)
    assert str(counts) == (
        "11 pairs read: 2 with an empty side, 1 the same on both sides, 2 of too unequal length, 2 duplicates, "
        "4 to learn from."
    )


def test_pairs_set_aside_are_chosen_after_cleaning(tmp_path: Path) -> None:
    lines = [f"s{i % 40}\tt{i % 40}" for i in range(100)]
    (tmp_path / "corpus.tsv").write_text("\n".join(lines), encoding="utf-8")
    folder = tmp_path / "text"
    folder.mkdir()
    write_text(
        [Part("corpus", Columns(tmp_path / "corpus.tsv"))],
        None,
        replace(DATA, valid_size=5, drop_duplicates=True),
        1,
        folder,
    )
    text = TrainingText(folder)
    assert text.counts == Counts(read=100, duplicates=60, validation=5, learnt=35)
    assert len(set(text.validation_pairs())) == 5
    aside = {side for pair in text.validation_pairs() for side in pair}
    assert {"s0", "t0"} <= {*text.sentences(), *aside}
    assert not aside & set(text.sentences())  # from which the vocabulary is learnt
    assert {path.name for path in folder.iterdir()} == {
        "text.tsv",
        "blocks.bin",
        "firsts.bin",
        "roles.bin",
        "counts.json",
        "parts.json",
    }


@pytest.mark.parametrize(("source", "target"), [("ab", "abcdefgh"), ("abcdefgh", "ab")])
def test_the_ratio_of_lengths_is_bounded_in_both_directions_inclusively(source: str, target: str) -> None:
    assert fault(source, target, replace(DATA, max_ratio=4.0)) is None
    assert fault(source, target, replace(DATA, max_ratio=3.9)) == "unequal"
    assert fault(source, target, DATA) is None


@given(st.lists(st.integers(0, 30)), st.integers(1, 9))
def test_repetitions_are_found_however_many_hashes_are_sorted_at_once(values: list[int], at_once: int) -> None:
    hashes = np.array(values, np.uint64) * np.uint64(2**64 // 30)  # from one end of the range to the other
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("transformer.data.cleaning.AT_ONCE", at_once)
        found = repeated(hashes)
    assert found.tolist() == [value in values[:i] for i, value in enumerate(values)]


def test_the_smallest_and_the_largest_hash_count_too() -> None:
    hashes = np.array([2**64 - 1, 0, 2**64 - 1, 0, 5], np.uint64)
    assert repeated(hashes).tolist() == [False, False, True, True, False]


def test_counts_are_stored_as_json(tmp_path: Path) -> None:
    rng = random.Random(1)
    counts = Counts(*(rng.randrange(10**9) for _ in asdict(Counts())))
    counts.write(tmp_path / "counts.json")
    assert Counts.from_file(tmp_path / "counts.json") == counts
    assert json.loads((tmp_path / "counts.json").read_text()) == asdict(counts)
