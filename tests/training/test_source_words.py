"""The words of the source text that the checkpoints of a run keep: from which pairs, and when there are none."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from tests.support.small_training import corpus_recipe, toy_recipe, write_pairs
from transformer.checkpoint.checkpoint_file import load_checkpoint
from transformer.data import source_words as module
from transformer.data.corpus import Pair
from transformer.data.prepared_text import TrainingText
from transformer.data.source_words import MOST_CHANGED, source_words
from transformer.data.training_data import TrainingData
from transformer.text.spelling import WordList
from transformer.training import train

WORDS = ("ship", "train", "bridge", "river", "house", "tree", "garden", "window")
PAIRS = [(f"The {one} and the {two}", f"{one} {two}") for one in WORDS for two in WORDS]


@pytest.fixture(autouse=True)
def few_words_are_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "FEWEST_WORDS", 5)


def text_of(*blocks: list[Pair], real: tuple[bool, ...] = ()) -> TrainingText:
    """A prepared corpus of these blocks, each of a part of its own."""
    parts = real or (True,) * len(blocks)
    return cast(
        TrainingText,
        SimpleNamespace(
            blocks=len(blocks),
            size=lambda i: len(blocks[i]),
            pairs=lambda i: blocks[i],
            part=lambda i: SimpleNamespace(is_real=parts[i]),
        ),
    )


def test_the_checkpoints_of_a_run_keep_the_words_and_its_snapshots_do_not(tmp_path: Path) -> None:
    write_pairs(tmp_path / "corpus.tsv", PAIRS)
    recipe = corpus_recipe(tmp_path, snapshots=(5,), updates=5)
    run = tmp_path / "run"
    used = load_checkpoint(train(recipe, run, device="cpu")).words
    assert used is not None
    learnt = TrainingData(recipe, run)
    assert used == learnt.words()
    assert sum(used.counts.values()) == 5 * learnt.size  # each source has five words; those for validation are not in
    assert used.corrected("the trian") == "the train"
    assert load_checkpoint(run / "last.safetensors").words == load_checkpoint(run / "average.safetensors").words == used
    assert load_checkpoint(run / "snapshots" / "00000005.safetensors").words is None


def test_a_small_text_has_too_few_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "FEWEST_WORDS", 99)
    assert source_words(text_of(PAIRS), []) is None


def test_a_toy_task_has_no_words(tmp_path: Path) -> None:
    assert TrainingData(toy_recipe(), tmp_path).words() is None


def test_sources_that_a_model_wrote_do_not_count() -> None:
    written = [("Teh brigde", "x")]
    assert source_words(text_of(PAIRS, written, real=(True, False)), []) == source_words(text_of(PAIRS), [])
    assert source_words(text_of(written, real=(False,)), []) is None


def test_words_that_would_change_many_correct_sentences_are_not_kept(caplog: pytest.LogCaptureFixture) -> None:
    right: list[Pair] = [("The ship", "")] * 100
    kept, dropped = round(100 * MOST_CHANGED), round(100 * MOST_CHANGED) + 1
    assert source_words(text_of(PAIRS), [*right[kept:], *[("The shipp", "")] * kept]) is not None
    with caplog.at_level("INFO"):
        assert source_words(text_of(PAIRS), [*right[dropped:], *[("The shipp", "")] * dropped]) is None
    assert "do not correct spelling: with the words of the text, they would change 6%" in caplog.text


def test_of_a_large_corpus_some_blocks_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_PAIRS", 2)
    monkeypatch.setattr(module, "FEWEST_WORDS", 1)
    blocks: list[Any] = [[(f"word{letter}", "")] for letter in "abcde"]
    for number, read in ((2, "ab"), (4, "ac"), (5, "ad")):
        found = source_words(text_of(*blocks[:number]), [])
        assert found == WordList({f"word{letter}": 1 for letter in read})
