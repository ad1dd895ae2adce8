"""What a whole run leaves: checkpoints, snapshots, metrics and samples."""

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import sacrebleu
import torch
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from tests.support.small_training import lines, stop_after, tensors, toy_recipe
from transformer.checkpoint.averaging import average_checkpoints
from transformer.checkpoint.checkpoint_file import load_checkpoint
from transformer.config import DecodingConfig
from transformer.decoding.translator import Translator
from transformer.errors import TrainingError
from transformer.model import Transformer
from transformer.training import train, training
from transformer.training.run_report import samples_text
from transformer.training.samples import Sample, sampled_pairs

KEPT = ("best", "last", "average")


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
