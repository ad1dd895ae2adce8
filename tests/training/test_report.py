"""The log of a run: at the start its size and the peak of the device, then the MFU that it reaches."""

import re
from pathlib import Path

import pytest

from tests.support.small_training import toy_recipe, training_of
from transformer.checkpoint.checkpoint_file import load_checkpoint
from transformer.config import ModelConfig
from transformer.data.training_data import TrainingData
from transformer.model import Transformer
from transformer.training import train, trainer
from transformer.training.flops import readable, training_flop
from transformer.training.measurements import Update
from transformer.training.metrics import Metrics, read_metrics
from transformer.training.run_report import Report


def test_a_run_says_its_parameters_operations_a_token_and_peak_and_then_its_speed_and_share(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    peak = 2.5e9
    monkeypatch.setattr(trainer, "measured_peak", lambda device, precision: peak)
    recipe = toy_recipe(updates=6, log_every=3, best_by="loss")
    chosen = train(recipe, tmp_path / "run", device="cpu")
    printed = capsys.readouterr().err

    model = load_checkpoint(chosen).model
    data = TrainingData(recipe, tmp_path / "run")
    flop = sum(training_flop(model.config, batch) for batch in data.valid_batches)
    tokens = sum(len(target) for target in data.tokenizer.encode_batch([pair[1] for pair in data.valid_pairs]))
    tokens += len(data.valid_pairs)  # </s>
    assert (
        f"{sum(weight.numel() for weight in model.parameters()):,} parameters on cpu; {data.size:,} training" in printed
    )
    assert f"Each target token takes {readable(flop / tokens, 'FLOP')}, forward and backward" in printed
    assert "large matrix products reach 2.5 GFLOP/s here (the peak)" in printed

    shown = re.findall(r"update (\d)/6 .* loss ([\d.]+)  ([\d,]+) tokens/s \((\d+)% MFU\)", printed)
    assert len(re.findall(r"\n  source +\S.*\n  reference +\S.*\n  translation", printed)) == 2 * 3

    lines = [line for line in read_metrics(tmp_path / "run" / "metrics.jsonl") if line["kind"] == "train"]
    assert [int(update) for update, *_ in shown] == [line["update"] for line in lines] == [3, 6]
    for (_, loss, speed, share), line in zip(shown, lines, strict=True):
        assert loss == f"{line['loss']:.3f}"
        assert speed == f"{line['tokens_per_second']:,.0f}"
        assert share == f"{100 * line['mfu']:.0f}"
        assert float(line["mfu"]) > 0


def test_the_time_left_is_told_by_the_speed_of_the_newest_updates(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    small = ModelConfig(vocab_size=50, encoder_layers=1, decoder_layers=1, d_model=16, d_ff=24, heads=2)
    training = training_of(Transformer(small), toy_recipe(updates=100, log_every=2), iter(()))
    progress = training.progress
    progress.update, progress.seconds = 40, 4_000.0  # 100 seconds each, before the run was stopped
    with Report(training, Metrics(tmp_path, 0, 0), peak=1e3) as report:
        for number in range(41, 91):
            progress.update, progress.recent_tokens = number, 10
            progress.seconds += 9.0 if number <= 60 else 2.0
            report.update(Update(number, loss=1.0, tokens=10, gradient_norm=1.0, flop=1, rate=0.1))
    left = dict(re.findall(r"update (\d+)/100 .* (\S+) left", capsys.readouterr().err))
    assert (left["42"], left["60"], left["90"]) == ("0:08:42", "0:06:00", "0:00:20")


def test_a_run_says_with_which_folder_the_app_must_be_started_to_list_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "my texts" / "runs"
    train(toy_recipe(updates=1, best_by="loss"), folder / "toy", device="cpu")
    app = f"the app, started with HEADLIGHT_RUNS='{folder}', page Training"
    printed = capsys.readouterr().err
    assert f"To watch it: {app}." in printed
    assert f"To see inside it:  {app}, run toy, Open" in printed
