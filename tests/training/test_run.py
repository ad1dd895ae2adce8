"""A whole run: what it writes, what it can start from, and when it ends."""

import errno
import fcntl
import logging
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import sacrebleu
import torch
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from tests.support.patience import PATIENCE
from tests.support.small_training import in_new_process, lines, metadata, stop_after, tensors, toy_recipe
from transformer.checkpoint.averaging import average_checkpoints
from transformer.checkpoint.checkpoint_file import load_checkpoint
from transformer.config import DecodingConfig
from transformer.data.training_data import Position, TrainingData
from transformer.decoding.translator import Translator
from transformer.errors import TrainingError
from transformer.model import Transformer
from transformer.training import train, training
from transformer.training.device import choose_device
from transformer.training.run_folder import Run
from transformer.training.run_report import samples_text
from transformer.training.samples import Sample, sampled_pairs

KEPT = ("best", "last", "average")


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
    averaged = load_checkpoint(finished / "average.safetensors").metrics["averaged"]
    assert averaged == ["00000010.safetensors", "00000012.safetensors"]


def test_the_average_is_that_of_the_last_snapshots_and_older_ones_are_gone(finished: Path, tmp_path: Path) -> None:
    snapshots = sorted((finished / "recent").iterdir())
    assert [path.name for path in snapshots] == ["00000010.safetensors", "00000012.safetensors"]
    average_checkpoints(tmp_path / "mean.safetensors", snapshots)
    mean = tensors(tmp_path / "mean.safetensors")
    assert all(torch.equal(tensor, mean[name]) for name, tensor in tensors(finished / "average.safetensors").items())


def test_snapshots_keep_the_model_of_each_of_their_updates_from_the_untrained_one_on(finished: Path) -> None:
    snapshots = {path.name: load_checkpoint(path) for path in sorted((finished / "snapshots").iterdir())}
    assert list(snapshots) == ["00000000.safetensors", "00000005.safetensors", "00000007.safetensors"]
    untrained, validated, between = snapshots.values()
    assert [each.metrics["update"] for each in snapshots.values()] == [0, 5, 7]
    assert "valid_loss" in validated.metrics
    assert "valid_loss" not in untrained.metrics | between.metrics  # of no other model than this one
    recipe = toy_recipe(best_by="loss")
    torch.manual_seed(recipe.training.seed)
    initial = Transformer(untrained.config)
    for name, weight in initial.named_parameters():
        assert torch.equal(weight.detach().half().float(), untrained.model.get_parameter(name))
    stored = tensors(finished / "snapshots" / "00000005.safetensors")
    assert {tensor.dtype for tensor in stored.values()} == {torch.float16, torch.uint8}  # weights and tokenizer


def test_the_best_checkpoint_is_the_one_with_the_best_score(finished: Path) -> None:
    losses = {line["update"]: line["loss"] for line in lines(finished) if line["kind"] == "valid"}
    best = load_checkpoint(finished / "best.safetensors").metrics
    assert best["update"] == min(losses, key=lambda update: losses[update])
    assert best["valid_loss"] == min(losses.values())


def test_the_last_checkpoint_has_scores_only_of_its_own_update(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stop_after(7, monkeypatch)
    with pytest.raises(TrainingError, match="Stopped"):
        train(toy_recipe(), tmp_path, device="cpu")
    metrics = load_checkpoint(tmp_path / "last.safetensors").metrics
    assert metrics["update"] == 7
    assert not [name for name in metrics if name.startswith("valid")]


@pytest.mark.parametrize(("best_by", "kept"), [("loss", [3, 4]), ("bleu", [1, 2]), ("accuracy", [1, 2])])
def test_so_many_of_the_best_checkpoints_are_kept(
    best_by: str, kept: list[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also across a stop; of equal ones the earlier."""
    scores = {1: (5.0, 2.0), 2: (4.0, 2.0), 3: (1.0, 1.0), 4: (3.0, 2.0), 5: (3.0, 2.0)}  # loss, bleu

    def validate(model: Any, text: Any, recipe: Any, update: int, stop: Any) -> dict[str, float]:
        return dict(zip(("loss", "accuracy" if best_by == "accuracy" else "bleu"), scores[update], strict=True))

    monkeypatch.setattr(training, "validate", validate)
    recipe = toy_recipe(updates=5, validate_every=1, best_by=best_by, keep_best=2, average_last=1)
    with monkeypatch.context() as stopping:
        stop_after(3, stopping)
        with pytest.raises(TrainingError, match="Stopped"):
            train(recipe, tmp_path, device="cpu")
    train(recipe, tmp_path, resume=True, device="cpu")
    assert sorted(int(path.stem) for path in (tmp_path / "best").iterdir()) == kept
    best = load_checkpoint(tmp_path / "best.safetensors").metrics
    assert best["update"] == {"loss": 3, "bleu": 1, "accuracy": 5}[best_by]  # of about the same accuracy the later


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


def test_each_validation_translates_the_same_sentences_and_shows_them(finished: Path) -> None:
    found = [line for line in lines(finished) if line["kind"] == "samples"]
    assert [line["update"] for line in found] == [5, 10, 12]
    first, last = found[0]["samples"], found[-1]["samples"]
    assert [sample["source"] for sample in first] == [sample["source"] for sample in last]
    assert len(first) == 3
    translator = Translator.load(finished / "last.safetensors")
    for sample in last:
        assert sample["reference"] == sample["source"][::-1]
        assert sample["translation"] == translator.translate(sample["source"], method="greedy", max_extra_length=2).text
    shown = EventAccumulator(str(finished / "tensorboard")).Reload().Tensors("samples/text_summary")
    assert [event.step for event in shown] == [5, 10, 12]
    text = shown[-1].tensor_proto.string_val[0].decode()
    assert all(line.startswith("    ") for line in text.splitlines())  # code, not Markdown
    assert f"reference   {last[0]['reference']}" in text


def test_samples_have_no_terminal_control_characters_and_a_short_text_has_fewer() -> None:
    assert (
        samples_text([Sample("a", "b", "\x1b[2J\nü")]) == "  source      a\n  reference   b\n  translation \\x1b[2J\\nü"
    )
    assert sampled_pairs([("long one", "x"), ("a", "y"), ("a", "z")]) == [("a", "y"), ("long one", "x")]


def test_a_finished_run_that_is_resumed_to_average_fewer_averages_fewer(finished: Path, tmp_path: Path) -> None:
    run = Path(shutil.copytree(finished, tmp_path / "run"))
    train(toy_recipe(average_last=1), run, resume=True, device="cpu")
    assert load_checkpoint(run / "average.safetensors").metrics["averaged"] == ["00000012.safetensors"]


def test_what_train_returns_is_the_better_of_average_and_best(tmp_path: Path) -> None:
    chosen = train(toy_recipe(best_by="loss"), tmp_path, device="cpu")
    files = [tmp_path / "average.safetensors", tmp_path / "best.safetensors"]
    assert chosen == min(files, key=lambda file: load_checkpoint(file).metrics["valid_loss"])


def test_the_checkpoint_translates_with_the_decoding_of_its_recipe(tmp_path: Path) -> None:
    recipe = replace(toy_recipe(updates=2), decoding=DecodingConfig(beam=2, max_extra_length=3))
    translator = Translator.load(train(recipe, tmp_path, device="cpu"))
    assert translator.settings == recipe.decoding
    beside = Translator(translator.model, translator.tokenizer, recipe.decoding)
    assert translator.translate("a b c") == beside.translate("a b c")


def test_the_vocabulary_of_the_model_is_what_the_corpus_gave(finished: Path) -> None:
    checkpoint = load_checkpoint(finished / "last.safetensors")
    assert checkpoint.config.vocab_size == checkpoint.tokenizer.vocab_size == 313  # 400 were asked for


# Options


def test_training_stops_early_when_the_score_gets_no_better(tmp_path: Path) -> None:
    """A rate of nearly nothing: the first validation stays the best. That after update 4 is in the warm-up."""
    recipe = toy_recipe(updates=100, validate_every=2, patience=3, peak_rate=1e-30, average_last=1)
    train(recipe, tmp_path, device="cpu")
    assert [line["update"] for line in lines(tmp_path) if line["kind"] == "valid"] == [2, 4, 6, 8, 10]
    assert metadata(tmp_path / "training.safetensors")["progress"]["best_update"] == 2


def test_of_checkpoints_with_about_the_same_accuracy_the_later_is_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recipe = toy_recipe(updates=20, validate_every=4, patience=3, peak_rate=1e-30, best_by="accuracy", average_last=1)
    train(recipe, tmp_path, device="cpu")
    progress = metadata(tmp_path / "training.safetensors")["progress"]
    assert (progress["best_update"], progress["kept_update"]) == (4, 16)  # and the run ends without a better one
    assert load_checkpoint(tmp_path / "best.safetensors").metrics["update"] == 16
    assert "(update 4); that of update 16 is as good and is kept." in capsys.readouterr().err


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


# Devices


def test_a_device_that_is_not_there_is_refused_with_those_that_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(TrainingError, match=r"This machine has no device 'cuda'\. It has: .*cpu"):
        train(toy_recipe(), tmp_path / "run", device="cuda")
    assert not (tmp_path / "run").exists()
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    assert choose_device("auto") == torch.device("cpu")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    assert choose_device("auto") == torch.device("cuda")
    assert choose_device("cuda:1") == torch.device("cuda", 1)
    for name in ("cuda:2", "cuda:x", "cuda:", "cpu:1", "tpu"):
        with pytest.raises(TrainingError, match=f"no device '{name}'"):
            choose_device(name)


# Folders


def test_a_folder_that_holds_a_run_is_not_overwritten(finished: Path) -> None:
    before = (finished / "training.safetensors").read_bytes()
    with pytest.raises(TrainingError, match=r"already has a run\. .*continue it with --resume: .* --resume "):
        train(toy_recipe(), finished, device="cpu")
    assert (finished / "training.safetensors").read_bytes() == before


def test_a_folder_that_holds_checkpoints_only_is_not_overwritten_either(finished: Path, tmp_path: Path) -> None:
    (tmp_path / "best.safetensors").write_bytes((finished / "best.safetensors").read_bytes())
    with pytest.raises(TrainingError, match="already has a run"):
        Run(tmp_path, resume=False)
    with pytest.raises(TrainingError, match="nothing to resume"):
        Run(tmp_path, resume=True)


def test_resuming_from_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TrainingError, match=r"no folder .*typo to resume from"):
        Run(tmp_path / "typo", resume=True)


def enter(folder: Path, output: Path) -> None:
    try:
        with Run(folder, resume=False):
            output.write_text("entered")
    except TrainingError as error:
        output.write_text(str(error))


def test_two_processes_do_not_train_in_one_folder(tmp_path: Path) -> None:
    with Run(tmp_path, resume=False):
        with pytest.raises(TrainingError, match="Another process is training in"), Run(tmp_path, resume=False):
            pass
        (tmp_path / ".half.tmp").touch()
        other = in_new_process(enter, tmp_path, tmp_path / "output")
        other.join(timeout=PATIENCE)
        assert "Another process is training in" in (tmp_path / "output").read_text()
        assert (tmp_path / ".half.tmp").exists()  # nothing of the first one's was touched
    with Run(tmp_path, resume=False):
        assert not (tmp_path / ".half.tmp").exists()


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EIO])
def test_a_file_system_without_locks_is_reported_and_one_that_fails_is_named(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    files = []

    def flock(file: Any, operation: int) -> None:
        files.append(file)
        raise OSError(number, "because")

    monkeypatch.setattr(fcntl, "flock", flock)
    if number == errno.EIO:
        with pytest.raises(TrainingError, match=r"because \(.*\.lock\)"), Run(tmp_path, resume=False):
            pass
    else:
        with caplog.at_level(logging.WARNING), Run(tmp_path, resume=False):
            assert "no second process uses this folder" in caplog.text
    assert files[0].closed
