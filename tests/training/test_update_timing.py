"""The expected time comes from timed updates; a run of so many epochs has the updates that they take."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from tests.support.small_training import metadata, toy_recipe
from transformer.config import EOS, PAD
from transformer.data.batches import collate
from transformer.training import train, update_timing
from transformer.training.run_report import describe_time, rough
from transformer.training.update_timing import TimedModel, Timing, some_rows, time_updates


def test_timing_ends_after_enough_seconds_and_counts_what_it_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    batches = [collate([[5, 6], [7]], [[8], [9, 10, 11]])] * 4  # 6 target tokens each
    model = TimedModel(toy_recipe(), torch.device("cpu"))
    took = iter([9.0, 1.0, 2.0, 3.0, 4.0])  # the first is not counted
    monkeypatch.setattr(model, "update", lambda batch, precision: next(took))
    monkeypatch.setattr(update_timing, "MEASURE_FOR", 5.0)
    assert time_updates(model, batches, "float32") == Timing(3, 18, 6.0)
    assert some_rows(batches[0], 3).labels.tolist() == [[8, EOS, PAD, PAD]]
    assert some_rows(batches[0], 3).target_tokens == 2


def test_the_expected_time_says_how_it_was_measured() -> None:
    line = describe_time(toy_recipe(updates=2000), Timing(3, 300, 2.0), 15_000.0)
    assert line.startswith("2,000 updates will take about 100 seconds, less if patience ends the run; ")
    assert "3 timed updates" in line
    assert "150 target tokens per second)" in line
    shared = describe_time(toy_recipe(updates=2000), Timing(3, 300, 2.0), 15_000.0, 4)
    assert shared.startswith("2,000 updates will take about 25 seconds, ")
    assert "150 target tokens per second on each of 4 processes)" in shared
    assert [rough(seconds) for seconds in (0.1, 5_549, 20_000, 900_000)] == [
        "1 seconds",
        "92 minutes",
        "5.6 hours",
        "10.4 days",
    ]


def test_epochs_become_updates_when_a_run_starts(tmp_path: Path) -> None:
    recipe = toy_recipe(epochs=1.5, save_every=100)
    train(recipe, tmp_path / "run", device="cpu")
    before = metadata(tmp_path / "run" / "training.safetensors")
    settings = before["recipe"]["training"]
    assert settings["epochs"] is None
    assert settings["updates"] == before["progress"]["update"]
    assert before["progress"]["epoch"] == 1
    longer = replace(recipe, training=replace(recipe.training, epochs=2.0))
    train(longer, tmp_path / "run", resume=True, device="cpu")
    after = metadata(tmp_path / "run" / "training.safetensors")
    assert after["progress"]["update"] == pytest.approx(settings["updates"] * 2 / 1.5, abs=1)
