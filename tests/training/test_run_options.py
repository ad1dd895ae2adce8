"""Options of a training: when it ends, what an update is, its precision, validation and device."""

from pathlib import Path

import pytest
import torch

from tests.support.small_training import lines, metadata, tensors, toy_recipe
from transformer.checkpoint.checkpoint_file import load_checkpoint
from transformer.data.training_data import Position, TrainingData
from transformer.device import choose_device
from transformer.errors import DeviceError
from transformer.training import train


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


def test_a_device_that_is_not_there_is_refused_with_those_that_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(DeviceError, match=r"This machine has no device 'cuda'\. It has: .*cpu"):
        train(toy_recipe(), tmp_path / "run", device="cuda")
    assert not (tmp_path / "run").exists()
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    assert choose_device("auto") == torch.device("cpu")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    assert choose_device("auto") == torch.device("cuda")
    assert choose_device("cuda:1") == torch.device("cuda", 1)
    for name in ("cuda:2", "cuda:x", "cuda:", "cpu:1", "tpu"):
        with pytest.raises(DeviceError, match=f"no device '{name}'"):
            choose_device(name)
