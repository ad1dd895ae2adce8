"""A signal stops a run at any moment, and nothing is lost."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.small_training import assert_same_run, lines, stop_after, toy_recipe
from transformer.checkpoint import averaging
from transformer.checkpoint.header import read_header
from transformer.data import pair_sources
from transformer.errors import TrainingError
from transformer.training import run_folder as run_module
from transformer.training import train, training, validation


def test_a_signal_during_validation_or_averaging_stops_at_once_and_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = toy_recipe(updates=6)
    original = validation.validate

    def validate(*arguments: Any) -> Any:
        os.kill(os.getpid(), signal.SIGTERM)
        return original(*arguments)

    monkeypatch.setattr(training, "validate", validate)
    for number, updates in enumerate((5, 5)):  # and again: it is due at once
        with pytest.raises(TrainingError, match=rf"Stopped by SIGTERM after update {updates} of 6.*--resume"):
            train(recipe, tmp_path / "run", resume=number > 0, device="cpu")
        assert not [line for line in lines(tmp_path / "run") if line["kind"] == "valid"]
    monkeypatch.undo()
    average = averaging.average_checkpoints

    def average_checkpoints(*arguments: Any) -> None:
        average(*arguments)
        os.kill(os.getpid(), signal.SIGTERM)

    monkeypatch.setattr(run_module, "average_checkpoints", average_checkpoints)
    with pytest.raises(TrainingError, match="Stopped by SIGTERM after update 6 of 6"):
        train(recipe, tmp_path / "run", resume=True, device="cpu")
    monkeypatch.undo()
    train(recipe, tmp_path / "run", resume=True, device="cpu")
    train(recipe, tmp_path / "alone", device="cpu")
    assert_same_run(tmp_path / "run", tmp_path / "alone")


@pytest.fixture
def at_a_terminal() -> Iterator[None]:
    """Does not ignore SIGHUP, as tests that are started with nohup otherwise would."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.mark.usefixtures("at_a_terminal")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_before_training_begins_is_reported_and_the_command_can_be_repeated(
    number: signal.Signals, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*arguments: Any, **options: Any) -> None:
        os.kill(os.getpid(), number)

    before, named = signal.getsignal(number), "Ctrl-C" if number == signal.SIGINT else number.name
    monkeypatch.setattr(pair_sources, "toy", interrupted)
    with pytest.raises(TrainingError, match=rf"Stopped by {named} before .* started\. Give"):
        train(toy_recipe(), tmp_path / "run", device="cpu")
    monkeypatch.undo()
    assert signal.getsignal(number) == before
    train(toy_recipe(updates=1), tmp_path / "run", device="cpu")
    monkeypatch.setattr(pair_sources, "toy", interrupted)
    with pytest.raises(TrainingError, match=rf"Stopped by {named} before .* continued; what was saved is unch"):
        train(toy_recipe(), tmp_path / "run", resume=True, device="cpu")


@pytest.mark.usefixtures("at_a_terminal")
def test_a_closed_terminal_stops_a_run_unless_it_was_started_with_nohup(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop_after(5, monkeypatch, signal.SIGHUP)
    with pytest.raises(TrainingError, match="Stopped by SIGHUP after update 5"):
        train(toy_recipe(), tmp_path / "run", device="cpu")
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        train(toy_recipe(), tmp_path / "nohup", device="cpu")
    finally:
        signal.signal(signal.SIGHUP, before)
    assert read_header(tmp_path / "nohup" / "last.safetensors").metrics["update"] == 12


def test_signal_handlers_are_restored_after_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)
    stop_after(1, monkeypatch, signal.SIGINT)
    with pytest.raises(TrainingError, match="Stopped by Ctrl-C after update 1 of"):
        train(toy_recipe(), tmp_path, device="cpu")
    assert (signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)) == before
