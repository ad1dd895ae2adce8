"""The arithmetic of a batch, against torch's own counter of floating-point operations."""

from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from tests.support.small_training import toy_recipe, training_of
from transformer.config import ModelConfig
from transformer.data.batches import collate
from transformer.model import Probe, Transformer, census
from transformer.training import flops
from transformer.training.flops import FORWARD_AND_BACKWARD, fastest_product, measured_peak, readable, training_flop
from transformer.training.loss import summed_loss
from transformer.training.measurements import Update
from transformer.training.metrics import Metrics, read_metrics
from transformer.training.run_report import Report

BATCH = collate([[4, 5, 6, 7], [5]], [[4, 5], [6, 7]])  # S 5, T 3, all labels count
CONFIG = ModelConfig(vocab_size=50, encoder_layers=2, decoder_layers=3, d_model=16, d_ff=24, heads=2)


def test_a_pass_forward_takes_as_many_operations_as_torch_counts() -> None:
    model = Transformer(CONFIG)
    probe = Probe(census(CONFIG), ["*.weights"])  # the explicit path: torch does not count inside its fused attention
    with FlopCounterMode(display=False) as counted:
        model(BATCH.source, BATCH.target, probe)
    assert training_flop(CONFIG, BATCH) == FORWARD_AND_BACKWARD * counted.get_total_flops()


def test_forward_and_backward_are_three_times_forward() -> None:
    model = Transformer(CONFIG)
    with FlopCounterMode(display=False) as forward, torch.no_grad():
        model.decoder_output(BATCH.source, BATCH.target)
    with FlopCounterMode(display=False) as counted:
        summed_loss(model, BATCH, 0.1).backward()
    output = 2 * 6 * CONFIG.d_model * CONFIG.vocab_size
    assert counted.get_total_flops() == 3 * (forward.get_total_flops() + output)


def test_the_fastest_product_is_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    # after a product that is not timed: began; start and end of three products, and how long it has measured
    clock = iter([0.0, 0.0, 0.09, 0.09, 0.1, 0.12, 0.12, 0.13, 0.16, 0.2])
    monkeypatch.setattr(flops, "time", SimpleNamespace(perf_counter=lambda: next(clock)))
    assert fastest_product(10, torch.device("cpu"), "float32", 0.15) == pytest.approx(0.02)


@pytest.mark.parametrize(("seconds", "measured"), [(1e-4, [10, 80]), (0.01, [10])])
def test_where_a_large_product_would_take_long_the_peak_is_that_of_a_small_one(
    seconds: float, measured: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    sides = []

    def product(side: int, *_: object) -> float:
        sides.append(side)
        return seconds

    monkeypatch.setattr(flops, "SIDES", {"cpu": 80})
    monkeypatch.setattr(flops, "fastest_product", product)
    assert measured_peak.__wrapped__(torch.device("cpu"), "float16") == pytest.approx(2 * measured[-1] ** 3 / seconds)
    assert sides == measured


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0 FLOP"), (999, "999 FLOP"), (1234, "1.23 kFLOP"), (2.5e12, "2.5 TFLOP"), (3e18, "3e+03 PFLOP")],
)
def test_large_numbers_are_written_with_a_prefix(value: float, text: str) -> None:
    assert readable(value, "FLOP") == text


def test_a_run_writes_its_model_flops_utilisation(tmp_path: Path) -> None:
    training = training_of(Transformer(CONFIG), toy_recipe(log_every=2), iter(()))
    progress = training.progress
    with Report(training, Metrics(tmp_path, 0, 0), peak=1000.0) as report:
        for progress.update, flop in ((1, 300), (2, 500)):
            made = Update(progress.update, flop / 50, 2 * progress.update, gradient_norm=1.0, flop=flop, rate=0.1)
            progress.recent_loss += made.loss
            progress.recent_tokens += made.tokens
            progress.recent_flop += flop
            progress.recent_seconds += 2.0
            report.update(made)
    assert (progress.recent_loss, progress.recent_tokens, progress.recent_flop, progress.recent_seconds) == (0, 0, 0, 0)
    (line,) = read_metrics(tmp_path / "metrics.jsonl")
    assert line["mfu"] == pytest.approx(800 / 4.0 / 1000.0)
    assert line["tokens_per_second"] == pytest.approx(6 / 4.0)
    assert line["loss"] == pytest.approx((6 + 10) / 6)  # of all tokens since the line before
