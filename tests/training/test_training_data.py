"""Corpora and toy tasks become vocabularies, validation sets and batches."""

import logging
import os
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from tests.support.small_training import MODEL, corpus_recipe, toy_recipe, write_pairs
from transformer.checkpoint.checkpoint_file import load_checkpoint
from transformer.config import EOS, Recipe, TokenizerConfig
from transformer.data.corpus import read_pairs
from transformer.data.data_options import DataConfig
from transformer.data.mix_options import Augmentation
from transformer.data.toy_tasks import Bounds, toy_pairs
from transformer.data.train_valid_overlap import count_overlap, sentence_hashes
from transformer.data.training_data import Position, TrainingData
from transformer.errors import ConfigError, CorpusError
from transformer.text.tokenizer import Tokenizer
from transformer.training import train, trainer
from transformer.training.validation import ValidationText


def test_a_corpus_from_a_file_trains_and_its_vocabulary_is_kept(tmp_path: Path) -> None:
    recipe = corpus_recipe(tmp_path, updates=3)
    train(recipe, tmp_path / "run", device="cpu")
    kept = Tokenizer.from_bytes((tmp_path / "run" / "tokenizer.model").read_bytes())
    assert kept.to_bytes() == load_checkpoint(tmp_path / "run" / "last.safetensors").tokenizer.to_bytes()
    assert kept.decode(kept.encode("zweiundvierzig")) == "zweiundvierzig"


def text_of(data: TrainingData) -> list[tuple[str, str]]:
    """What is learnt from, in the order of the corpus."""
    decode, pairs = data.tokenizer.decode, data._epoch(0)
    sources, targets = pairs.select(range(len(pairs)))
    return [(decode(source), decode(target)) for source, target in zip(sources, targets, strict=True)]


def test_pairs_set_aside_for_validation_share_no_sentence_with_the_rest(tmp_path: Path) -> None:
    pairs = toy_pairs("numbers", 3, 200, Bounds(max_number=99))  # so few numbers that most come several times
    recipe = corpus_recipe(tmp_path, sampling=0.0)
    write_pairs(tmp_path / "corpus.tsv", pairs)
    recipe = replace(recipe, data=replace(recipe.data, valid_size=20))
    data = TrainingData(recipe, tmp_path / "run")
    learnt, held_out = text_of(data), data.valid_pairs
    assert 20 <= len(held_out) < 40
    assert count_overlap(sentence_hashes(learnt, 1), sentence_hashes(held_out, 1)) == 0
    assert {*learnt, *held_out} <= set(pairs)
    other = TrainingData(replace(recipe, training=replace(recipe.training, seed=2)), tmp_path / "other")
    assert other.valid_pairs != held_out


def test_validation_text_that_is_learnt_from_is_warned_about(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    recipe, pairs = corpus_recipe(tmp_path), toy_pairs("numbers", 1, 150)
    held_out = write_pairs(tmp_path / "valid.tsv", [*pairs[:3], ("something", "else"), ("entirely", "different")])
    recipe = replace(recipe, data=replace(recipe.data, valid=str(held_out)))
    for _ in range(2):  # also when the prepared text is found again
        with caplog.at_level(logging.WARNING):
            TrainingData(recipe, tmp_path / "run")
        assert "3 of 5 validation pairs are also in the training text" in caplog.text
        caplog.clear()


def test_text_of_which_much_is_too_long_is_warned_about(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    recipe = corpus_recipe(tmp_path, sampling=0.0)
    data = TrainingData(recipe, tmp_path / "run")
    for max_length, is_warned in ((recipe.data.max_length, False), (round(data.lengths["source_pieces_mean"]), True)):
        caplog.clear()
        changed = replace(recipe, data=replace(recipe.data, max_length=max_length))
        with caplog.at_level(logging.WARNING):
            TrainingData(changed, tmp_path / f"run-{max_length}").warn()
        assert (f"more than data.max_length = {max_length} tokens" in caplog.text) == is_warned


def test_the_vocabulary_is_not_learnt_from_validation_text(tmp_path: Path) -> None:
    write_pairs(tmp_path / "train.tsv", [(f"abab {i}", f"baba {i}") for i in range(20)])
    write_pairs(tmp_path / "valid.tsv", [("xyz", "zyx")])
    data = DataConfig(train=(str(tmp_path / "train.tsv"),), valid=str(tmp_path / "valid.tsv"))
    recipe = Recipe(model=MODEL, data=data, tokenizer=TokenizerConfig(vocab_size=300))
    tokenizer = TrainingData(recipe, tmp_path / "run").tokenizer
    assert {tokenizer.kind(id) for id in tokenizer.encode("ab")} == {"ordinary"}
    assert "byte" in {tokenizer.kind(id) for id in tokenizer.encode("x")}


def test_validation_sentences_that_the_model_cannot_read_are_left_out(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """One such sentence must not end a run at its first validation, hours after its start."""
    recipe = corpus_recipe(tmp_path, updates=1, sampling=0.0)
    held_out = write_pairs(tmp_path / "valid.tsv", [("forty-two", "zweiundvierzig"), ("one " * 200, "eins " * 200)])
    recipe = replace(recipe, data=replace(recipe.data, valid=str(held_out)))
    train(recipe, tmp_path / "run", device="cpu")
    assert "1 validation pairs left out" in caplog.text


def test_a_vocabulary_that_is_given_takes_the_place_of_one_left_over_in_the_folder(
    finished: Path, tmp_path: Path
) -> None:
    """On a machine that assists, the folder may hold that of an earlier run."""
    given = load_checkpoint(finished / "best.safetensors").tokenizer
    (tmp_path / "tokenizer.model").write_bytes(b"of another run")
    data = TrainingData(toy_recipe(), tmp_path, given)
    assert data.tokenizer is given
    assert (tmp_path / "tokenizer.model").read_bytes() == given.to_bytes()


@pytest.mark.parametrize("kind", ["file", "checkpoint"])
def test_a_recipe_can_name_the_vocabulary(kind: str, finished: Path, tmp_path: Path) -> None:
    model = {"file": finished / "tokenizer.model", "checkpoint": finished / "best.safetensors"}[kind]
    recipe = corpus_recipe(tmp_path, updates=1)
    recipe = replace(recipe, tokenizer=replace(recipe.tokenizer, model=str(model)))
    train(recipe, tmp_path / "run", device="cpu")
    assert (tmp_path / "run" / "tokenizer.model").read_bytes() == (finished / "tokenizer.model").read_bytes()


def test_subword_sampling_changes_the_training_pieces_each_epoch_and_never_the_validation(tmp_path: Path) -> None:
    recipe = corpus_recipe(tmp_path, sampling=0.2)
    data = TrainingData(recipe, tmp_path / "run")
    epochs = [data._epoch(number) for number in (0, 1, 2)]
    assert len({epoch.target_ids.tobytes() for epoch in epochs}) == 3
    texts = [{data.tokenizer.decode(ids) for ids in epoch.select(range(len(epoch)))[1]} for epoch in epochs]
    assert texts[0] == texts[1] == texts[2]
    ends = {tuple(row[row > 3].tolist()) for batch in data.valid_batches for row in batch.labels.numpy()}
    assert ends == {tuple(data.tokenizer.encode(target)) for _, target in data.valid_pairs}


def test_a_toy_task_makes_fresh_pairs_each_epoch(tmp_path: Path) -> None:
    data = TrainingData(toy_recipe(), tmp_path)
    assert data._epoch(1).source_ids.tobytes() != data._epoch(2).source_ids.tobytes()
    assert data._epoch(1).source_ids.tobytes() == data._epoch(1).source_ids.tobytes()
    assert len(data._epoch(1)) == 150


def test_the_stream_can_be_entered_anywhere(tmp_path: Path) -> None:
    data = TrainingData(corpus_recipe(tmp_path), tmp_path)
    stream = data.stream(Position())
    drawn = [next(stream) for _ in range(25)]
    assert drawn[-1][1].epoch > 1
    for i in (0, 7, 20):
        batch, _ = next(data.stream(drawn[i][1]))
        assert torch.equal(batch.source, drawn[i + 1][0].source)
        assert torch.equal(batch.labels, drawn[i + 1][0].labels)


def epochs_of(data: TrainingData, count: int) -> list[list[tuple[tuple[int, ...], tuple[int, ...]]]]:
    """Source and labels of each pair, in the order in which the stream gives them, of the first epochs."""
    found: list[list[tuple[tuple[int, ...], tuple[int, ...]]]] = [[] for _ in range(count)]
    for batch, after in data.stream(Position()):
        if after.epoch >= count:
            return found
        rows = zip(batch.source.tolist(), batch.labels.tolist(), strict=True)
        found[after.epoch] += [(tuple(filter(None, source)), tuple(filter(None, labels))) for source, labels in rows]
    return found


def test_the_stream_gives_every_pair_once_an_epoch_each_time_in_another_order(tmp_path: Path) -> None:
    recipe = corpus_recipe(tmp_path, sampling=0.0)
    data = TrainingData(recipe, tmp_path / "run")
    first, second = epochs_of(data, 2)
    aside = set(data.valid_pairs)
    pairs = [pair for pair in read_pairs(Path(recipe.data.train[0])) if pair not in aside]
    encode = data.tokenizer.encode
    ids = [((*encode(source), EOS), (*encode(target), EOS)) for source, target in pairs]
    assert sorted(first) == sorted(second) == sorted(ids)
    assert first != second


def test_the_stream_yields_newly_sampled_subwords(tmp_path: Path) -> None:
    first, second = epochs_of(TrainingData(corpus_recipe(tmp_path, sampling=0.2), tmp_path / "run"), 2)
    assert len(first) == len(second)
    assert sorted(first) != sorted(second)


def test_length_limits_that_leave_no_pairs_are_reported(tmp_path: Path) -> None:
    recipe = corpus_recipe(tmp_path)
    with pytest.raises(CorpusError, match=r"Lower data\.valid_size = 500, for example to 7, "):
        TrainingData(replace(recipe, data=replace(recipe.data, valid_size=500)), tmp_path)
    copies = write_pairs(tmp_path / "copies.tsv", [(f"word {i}", f"word {i}") for i in range(5)])
    for valid in (None, recipe.data.train[0]):
        data = replace(recipe.data, train=(str(copies),), valid=valid, drop_copies=True)
        with pytest.raises(CorpusError, match=r"5 the same on both sides, 0 to learn from\. .*set data\.drop_copies"):
            TrainingData(replace(recipe, data=data), tmp_path)
    one = write_pairs(tmp_path / "one.tsv", [("a cat", "eine Katze"), ("a cat", "ein Kater")] * 5)
    for size in (1, 500):  # no other size would leave some of them
        data = replace(recipe.data, train=(str(one),), valid_size=size)
        with pytest.raises(CorpusError, match="share their source or target") as raised:
            TrainingData(replace(recipe, data=data), tmp_path)
        assert "Lower data.valid_size" not in str(raised.value)
    long = write_pairs(tmp_path / "long.tsv", [("two words", "zwei Wörter")] * 5)
    with pytest.raises(CorpusError, match=r"training pairs is at most data\.max_length = 1 "):
        TrainingData(
            replace(recipe, data=replace(recipe.data, train=(str(long),), valid=str(long), max_length=1)), tmp_path
        )
    words = [(f"{i} two words " * 9, f"{i} zwei") for i in range(40)]  # one of them is set aside
    most = write_pairs(tmp_path / "most.tsv", [("a", "b"), *words])
    for valid, advice in ((None, r"Raise data\.max_length or data\.valid_size"), (str(long), "Give other validation")):
        data = replace(recipe.data, train=(str(most),), valid=valid, valid_size=1, max_length=3)
        with pytest.raises(CorpusError, match=f"No validation pair is at most .* {advice}"):
            TrainingData(replace(recipe, data=data), tmp_path)
    with pytest.raises(ConfigError, match="no pair for validation"):
        TrainingData(replace(toy_recipe(), data=DataConfig(toy="numbers", toy_max_number=20)), tmp_path)


@pytest.mark.parametrize(
    "file",
    ["counts.json", "blocks.bin", "firsts.bin", "roles.bin", "text.tsv", "tokenizer.model", "about.json"]
    + [f"{side}_{what}.bin" for side in ("source", "target") for what in ("ids", "starts")],
)
def test_damaged_prepared_data_is_reported_with_the_folder_to_remove(
    file: str, prepared: tuple[Recipe, Path], tmp_path: Path
) -> None:
    recipe, run = prepared
    shutil.copytree(run, tmp_path / "run")
    (damaged,) = (tmp_path / "run" / "prepared").glob(f"*/{file}")
    for size in (damaged.stat().st_size * 9 // 10, 0):
        os.truncate(damaged, size)
        with pytest.raises(CorpusError, match=rf"{damaged.parent} is damaged .*Remove this folder"):
            TrainingData(recipe, tmp_path / "run")
    shutil.rmtree(damaged.parent)
    TrainingData(recipe, tmp_path / "run")


@pytest.mark.parametrize(("old", "new"), [(b'"too_long": 0', b'"too_long": {'), (b"too_long", b"too_lung")])
def test_one_wrong_character_in_the_description_of_ids_is_reported_as_damage(
    old: bytes, new: bytes, prepared: tuple[Recipe, Path], tmp_path: Path
) -> None:
    recipe, run = prepared
    shutil.copytree(run, tmp_path / "run")
    (damaged,) = (tmp_path / "run" / "prepared").glob("*/about.json")
    whole = damaged.read_bytes()
    assert old in whole
    damaged.write_bytes(whole.replace(old, new, 1))
    with pytest.raises(CorpusError, match=rf"{damaged.parent} is damaged .*Remove this folder"):
        TrainingData(recipe, tmp_path / "run")


@pytest.mark.parametrize("file", ["source_ids.bin", "target_ids.bin", "source_starts.bin", "blocks.bin"])
def test_values_that_are_not_those_that_were_written_are_reported_as_damage(
    file: str, prepared: tuple[Recipe, Path], tmp_path: Path
) -> None:
    recipe, run = prepared
    shutil.copytree(run, tmp_path / "run")
    (damaged,) = (tmp_path / "run" / "prepared").glob(f"*/{file}")
    values = np.memmap(damaged, np.int32 if "ids" in file else np.int64, mode="r+")
    values[len(values) // 2] ^= 0x4000
    values.flush()
    with pytest.raises(CorpusError, match=rf"{damaged.parent} is damaged .*Remove this folder"):
        TrainingData(recipe, tmp_path / "run")


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> tuple[Recipe, Path]:
    """A recipe, and a folder in which its text is prepared."""
    folder = tmp_path_factory.mktemp("prepared")
    recipe = corpus_recipe(folder)
    TrainingData(recipe, folder / "run")
    return recipe, folder / "run"


def test_validation_reads_first_words_as_a_translator_does(tmp_path: Path) -> None:
    pairs = [(f"the {word} here.", f"{word} da") for _, word in toy_pairs("numbers", 1, 60)]
    held_out = write_pairs(tmp_path / "valid.tsv", [("The cat is here.", "Katze da"), ("Here.", "Da")])
    write_pairs(tmp_path / "corpus.tsv", pairs)
    recipe = corpus_recipe(tmp_path, sampling=0.0)
    for rate, first in ((0.5, "the"), (0.0, "The")):
        data = replace(recipe.data, valid=str(held_out), augment=Augmentation(first_word=rate))
        found = TrainingData(replace(recipe, data=data), tmp_path / f"run {rate}")
        assert found.valid_pairs == [(f"{first} cat is here.", "Katze da"), ("Here.", "Da")]
        read = {found.tokenizer.decode(row.tolist()) for batch in found.valid_batches for row in batch.source}
        assert any(text.startswith(first) for text in read)


@pytest.mark.parametrize("rate", [0.5, 0.0])
def test_a_run_translates_its_validation_text_with_first_words_in_lower_case_only_if_it_learns_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rate: float
) -> None:
    made: list[ValidationText] = []

    def noted(*given: Any) -> ValidationText:
        made.append(ValidationText(*given))
        return made[-1]

    monkeypatch.setattr(trainer, "ValidationText", noted)
    recipe = corpus_recipe(tmp_path, updates=1)
    recipe = replace(recipe, data=replace(recipe.data, augment=Augmentation(first_word=rate)))
    train(recipe, tmp_path / "run", device="cpu")
    assert [text.first_words for text in made] == [rate > 0]
