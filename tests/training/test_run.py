"""A whole run: what it writes, what it can start from, and when it ends."""

import logging
from dataclasses import replace
from pathlib import Path

import pytest
import sacrebleu
import torch
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from tests.training.small import MODEL, corpus_recipe, lines, metadata, tensors, toy_recipe, write_pairs
from transformer.averaging import average_checkpoints
from transformer.checkpoint import load_checkpoint
from transformer.config import DataConfig, DecodingConfig, Recipe, TokenizerConfig
from transformer.decoding.translator import Translator
from transformer.errors import ConfigError, CorpusError, TrainingError
from transformer.text.splits import shared_pairs
from transformer.text.tokenizer import Tokenizer
from transformer.text.toy import toy_pairs
from transformer.training import train
from transformer.training.data import Position, TrainingData, read_text
from transformer.training.device import choose_device
from transformer.training.run import Run

KEPT = ("best", "last", "average")


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a finished run of the toy recipe."""
    run = tmp_path_factory.mktemp("run") / "toy"
    train(toy_recipe(best_by="loss"), run, device="cpu")
    return run


# What it leaves


def test_a_run_leaves_checkpoints_that_load_and_know_where_they_come_from(finished: Path) -> None:
    for name in KEPT:
        checkpoint = load_checkpoint(finished / f"{name}.safetensors")
        assert checkpoint.recipe is not None
        assert checkpoint.recipe["name"] == "toy"
        assert checkpoint.metrics["update"] in (5, 10, 12)
        assert checkpoint.metrics["target_tokens"] > 0
        assert checkpoint.metrics["valid_loss"] > 0
    assert load_checkpoint(finished / "last.safetensors").metrics["update"] == 12
    assert load_checkpoint(finished / "average.safetensors").metrics["averaged"] == 2


def test_the_average_is_that_of_the_last_snapshots_and_older_ones_are_gone(finished: Path, tmp_path: Path) -> None:
    snapshots = sorted((finished / "snapshots").iterdir())
    assert [path.name for path in snapshots] == ["00000010.safetensors", "00000012.safetensors"]
    average_checkpoints(tmp_path / "mean.safetensors", snapshots)
    mean = tensors(tmp_path / "mean.safetensors")
    assert all(torch.equal(tensor, mean[name]) for name, tensor in tensors(finished / "average.safetensors").items())


def test_the_best_checkpoint_is_the_one_with_the_best_score(finished: Path) -> None:
    losses = {line["update"]: line["loss"] for line in lines(finished) if line["kind"] == "valid"}
    best = load_checkpoint(finished / "best.safetensors").metrics
    assert best["update"] == min(losses, key=lambda update: losses[update])
    assert best["valid_loss"] == min(losses.values())


def test_metrics_have_a_line_for_every_interval_and_every_validation(finished: Path) -> None:
    found = lines(finished)
    assert [line["update"] for line in found if line["kind"] == "train"] == [5, 10, 12]
    assert [line["update"] for line in found if line["kind"] == "valid"] == [5, 10, 12]
    train_line = next(line for line in found if line["kind"] == "train")
    assert train_line.keys() == {"update", "kind", "loss", "rate", "gradient_norm", "epoch", "target_tokens"}
    valid_line = next(line for line in found if line["kind"] == "valid")
    assert valid_line["bleu_signature"].endswith(f"version:{sacrebleu.__version__}")
    assert "tok:13a" in valid_line["bleu_signature"]
    assert {"loss", "perplexity", "accuracy", "bleu", "chrf", "chrf_signature", "exact_match"} <= valid_line.keys()


def test_tensorboard_has_the_same_numbers(finished: Path) -> None:
    board = EventAccumulator(str(finished / "tensorboard")).Reload()
    for kind in ("train", "valid"):
        expected = [(line["update"], pytest.approx(line["loss"])) for line in lines(finished) if line["kind"] == kind]
        assert [(event.step, event.value) for event in board.Scalars(f"{kind}/loss")] == expected


def test_what_train_returns_is_the_better_of_average_and_best(tmp_path: Path) -> None:
    chosen = train(toy_recipe(best_by="loss"), tmp_path, device="cpu")
    files = [tmp_path / "average.safetensors", tmp_path / "best.safetensors"]
    assert chosen == min(files, key=lambda file: load_checkpoint(file).metrics["valid_loss"])


def test_the_checkpoint_translates_with_the_decoding_of_its_recipe(tmp_path: Path) -> None:
    recipe = replace(toy_recipe(updates=2), decoding=DecodingConfig(beam=2, max_extra_length=3))
    translator = Translator.load(train(recipe, tmp_path, device="cpu"))
    assert translator.settings == recipe.decoding
    assert translator.translate("a b c").text is not None


def test_the_vocabulary_of_the_model_is_what_the_corpus_gave(finished: Path) -> None:
    checkpoint = load_checkpoint(finished / "last.safetensors")
    assert checkpoint.config.vocab_size == checkpoint.tokenizer.vocab_size == 313  # 400 were asked for


# Options


def test_training_stops_early_when_the_score_gets_no_better(tmp_path: Path) -> None:
    """A rate of nearly nothing: the first validation stays the best."""
    recipe = toy_recipe(updates=100, validate_every=2, patience=3, peak_rate=1e-30, average_last=1)
    train(recipe, tmp_path, device="cpu")
    assert [line["update"] for line in lines(tmp_path) if line["kind"] == "valid"] == [2, 4, 6, 8]
    assert metadata(tmp_path / "training.safetensors")["progress"]["best_update"] == 2


def test_a_run_accumulates_batches_and_counts_their_tokens(tmp_path: Path) -> None:
    recipe = toy_recipe(updates=4, accumulate=3, validation_sentences=0, best_by="loss")
    train(recipe, tmp_path, device="cpu")
    data = TrainingData(recipe, tmp_path)
    stream = data.stream(Position())
    expected = sum(next(stream)[0].target_tokens for _ in range(12))
    assert metadata(tmp_path / "training.safetensors")["progress"]["tokens"] == expected


def test_a_step_in_bfloat16_is_finite_and_keeps_weights_in_float32(tmp_path: Path) -> None:
    train(toy_recipe(updates=2, precision="bfloat16", validation_sentences=0, best_by="loss"), tmp_path, device="cpu")
    for name, tensor in tensors(tmp_path / "training.safetensors").items():
        assert tensor.dtype == torch.float32, name
        assert tensor.isfinite().all(), name


def test_checkpoints_may_be_stored_in_half_precision_while_training_is_not(tmp_path: Path) -> None:
    train(toy_recipe(updates=2, half=True, validation_sentences=0, best_by="loss"), tmp_path, device="cpu")
    weights = {tensor.dtype for name, tensor in tensors(tmp_path / "last.safetensors").items() if "layers" in name}
    assert weights == {torch.float16}
    assert {tensor.dtype for tensor in tensors(tmp_path / "training.safetensors").values()} == {torch.float32}


def test_without_sentences_to_translate_there_is_a_loss_and_no_bleu(tmp_path: Path) -> None:
    train(toy_recipe(updates=2, validation_sentences=0, best_by="loss"), tmp_path, device="cpu")
    valid = [line for line in lines(tmp_path) if line["kind"] == "valid"]
    assert valid
    assert all(line.keys() == {"update", "kind", "loss", "perplexity", "accuracy"} for line in valid)


# Starting from a checkpoint


def test_init_from_starts_with_the_weights_and_the_vocabulary_of_a_checkpoint(finished: Path, tmp_path: Path) -> None:
    recipe = toy_recipe(updates=1, peak_rate=1e-30)
    different = replace(recipe, tokenizer=TokenizerConfig(vocab_size=300, byte_fallback=False))
    start = finished / "best.safetensors"
    train(different, tmp_path, init_from=start, device="cpu")
    given, found = tensors(start), tensors(tmp_path / "last.safetensors")
    assert given.keys() == found.keys()
    assert all(torch.equal(tensor, found[name]) for name, tensor in given.items())
    train(replace(different, training=replace(recipe.training, updates=2)), tmp_path, resume=True, device="cpu")
    assert load_checkpoint(tmp_path / "last.safetensors").config.vocab_size == 313


def test_init_from_another_architecture_is_refused_with_the_differences(finished: Path, tmp_path: Path) -> None:
    """Neither the number of heads nor the norm's place shows in any shape."""
    recipe = toy_recipe()
    other = replace(recipe, model=replace(MODEL, heads=4, norm="pre", dropout=0.3))
    with pytest.raises(TrainingError) as caught:
        train(other, tmp_path, init_from=finished / "best.safetensors", device="cpu")
    assert "model.heads: 2 there, 4 here" in str(caught.value)
    assert "model.norm: post there, pre here" in str(caught.value)
    assert "dropout" not in str(caught.value)


# Devices


def test_a_device_that_is_not_there_is_refused_with_those_that_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(TrainingError, match=r"no device 'cuda' on this machine\. There is: .*cpu"):
        train(toy_recipe(), tmp_path / "run", device="cuda")
    assert not (tmp_path / "run").exists()
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    assert choose_device("auto") == torch.device("cpu")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert choose_device("auto") == torch.device("cuda")


# Corpora


def test_a_corpus_from_a_file_trains_and_its_vocabulary_is_kept(tmp_path: Path) -> None:
    recipe = corpus_recipe(tmp_path, updates=3)
    train(recipe, tmp_path / "run", device="cpu")
    kept = Tokenizer.from_bytes((tmp_path / "run" / "tokenizer.model").read_bytes())
    assert kept.to_bytes() == load_checkpoint(tmp_path / "run" / "last.safetensors").tokenizer.to_bytes()
    assert kept.decode(kept.encode("zweiundvierzig")) == "zweiundvierzig"


def test_pairs_set_aside_for_validation_share_no_sentence_with_the_rest(tmp_path: Path) -> None:
    pairs = toy_pairs("numbers", 3, 200, max_number=99)  # so few numbers that most come several times
    data = DataConfig(train=(str(write_pairs(tmp_path / "corpus.tsv", pairs)),), valid_size=20)
    learnt, held_out = read_text(data, seed=1)
    assert 20 <= len(held_out) < 40
    assert shared_pairs(learnt, held_out) == 0
    assert {*learnt, *held_out} <= set(pairs)
    assert read_text(data, seed=1) == (learnt, held_out)
    assert read_text(data, seed=2)[1] != held_out


def test_validation_text_that_is_learnt_from_is_warned_about(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    pairs = toy_pairs("numbers", 1, 30)
    learnt = write_pairs(tmp_path / "train.tsv", pairs)
    fresh = [("something", "else"), ("entirely", "different")]
    held_out = write_pairs(tmp_path / "valid.tsv", [*pairs[:3], *fresh])
    with caplog.at_level(logging.WARNING):
        read_text(DataConfig(train=(str(learnt),), valid=str(held_out)), seed=1)
    assert "3 of 5 validation pairs stand in the training text" in caplog.text


def test_the_vocabulary_is_not_learnt_from_validation_text(tmp_path: Path) -> None:
    write_pairs(tmp_path / "train.tsv", [(f"abab {i}", f"baba {i}") for i in range(20)])
    write_pairs(tmp_path / "valid.tsv", [("xyz", "zyx")])
    data = DataConfig(train=(str(tmp_path / "train.tsv"),), valid=str(tmp_path / "valid.tsv"))
    recipe = Recipe(model=MODEL, data=data, tokenizer=TokenizerConfig(vocab_size=300))
    (tmp_path / "run").mkdir()
    tokenizer = TrainingData(recipe, tmp_path / "run").tokenizer
    assert {tokenizer.kind(id) for id in tokenizer.encode("ab")} == {"piece"}
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


@pytest.mark.parametrize("kind", ["file", "checkpoint"])
def test_a_recipe_can_name_the_vocabulary(kind: str, finished: Path, tmp_path: Path) -> None:
    model = {"file": finished / "tokenizer.model", "checkpoint": finished / "best.safetensors"}[kind]
    recipe = corpus_recipe(tmp_path, updates=1)
    recipe = replace(recipe, tokenizer=replace(recipe.tokenizer, model=str(model)))
    train(recipe, tmp_path / "run", device="cpu")
    assert (tmp_path / "run" / "tokenizer.model").read_bytes() == (finished / "tokenizer.model").read_bytes()


def test_subword_sampling_cuts_words_anew_each_epoch_and_validation_never(tmp_path: Path) -> None:
    recipe = corpus_recipe(tmp_path, sampling=0.2)
    (tmp_path / "run").mkdir()
    data = TrainingData(recipe, tmp_path / "run")
    epochs = [data._epoch(number) for number in (0, 1, 2)]
    assert len({epoch.targets.ids.tobytes() for epoch in epochs}) == 3
    texts = [{data.tokenizer.decode(epoch.targets[i]) for i in range(len(epoch))} for epoch in epochs]
    assert texts[0] == texts[1] == texts[2]
    ends = {tuple(row[row > 3].tolist()) for batch in data.valid_batches for row in batch.labels.numpy()}
    assert ends == {tuple(data.tokenizer.encode(target)) for _, target in data.valid_pairs}


def test_a_toy_task_makes_fresh_pairs_each_epoch(tmp_path: Path) -> None:
    data = TrainingData(toy_recipe(), tmp_path)
    assert data._epoch(1).sources.ids.tobytes() != data._epoch(2).sources.ids.tobytes()
    assert data._epoch(1).sources.ids.tobytes() == data._epoch(1).sources.ids.tobytes()
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


# Folders


def test_a_folder_that_holds_a_run_is_not_overwritten(finished: Path) -> None:
    before = (finished / "training.safetensors").read_bytes()
    with pytest.raises(TrainingError, match=r"already holds a run\. Go on with it by --resume"):
        train(toy_recipe(), finished, device="cpu")
    assert (finished / "training.safetensors").read_bytes() == before


def test_a_folder_that_holds_checkpoints_only_is_not_overwritten_either(finished: Path, tmp_path: Path) -> None:
    (tmp_path / "best.safetensors").write_bytes((finished / "best.safetensors").read_bytes())
    with pytest.raises(TrainingError, match="already holds a run"):
        Run(tmp_path, resume=False)
    with pytest.raises(TrainingError, match="nothing to resume"):
        Run(tmp_path, resume=True)


def test_resuming_from_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TrainingError, match=r"no folder .*typo to resume from"):
        Run(tmp_path / "typo", resume=True)


def test_bounds_that_leave_nothing_to_learn_are_told(tmp_path: Path) -> None:
    recipe = corpus_recipe(tmp_path)
    with pytest.raises(CorpusError, match="valid_size = 500"):
        TrainingData(replace(recipe, data=replace(recipe.data, valid_size=500)), tmp_path)
    long = write_pairs(tmp_path / "long.tsv", [("two words", "zwei Wörter")] * 5)
    with pytest.raises(CorpusError, match=r"training pairs is at most data\.max_length = 1 "):
        TrainingData(
            replace(recipe, data=replace(recipe.data, train=(str(long),), valid=str(long), max_length=1)), tmp_path
        )
    with pytest.raises(ConfigError, match="no pair for validation"):
        TrainingData(replace(toy_recipe(), data=DataConfig(toy="numbers", toy_max_number=20)), tmp_path)
