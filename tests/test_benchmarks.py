"""The benchmarks run: tiny models, in this process. What they measure is for a machine that does nothing else."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
import typer
from typer.testing import CliRunner, Result

from tests.benchmarks import decoding, training, training_ladder
from tests.benchmarks.training_peers import PEERS

ROOT = Path(__file__).parent.parent

Started = list[tuple[str, ...]]


def run(main: Callable[..., None], *options: str, stdin: str = "") -> Result:
    """The command, with these options."""
    app = typer.Typer()
    app.command()(main)
    result = CliRunner().invoke(app, options, input=stdin, env={"COLUMNS": "250"})
    assert result.exit_code == 0, result.output
    return result


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> Started:
    """The options that each contestant would get in a process of its own; here they run when it is their turn."""
    commands: Started = []

    def start(module: str, name: str, *options: str) -> Callable[[], list[str]]:
        commands.append((name, *options))
        main = {training.__name__: training.main, training_ladder.__name__: training_ladder.main}[module]
        return lambda: run(main, "--only", name, *options, stdin="\n\n").stdout.splitlines()

    def take_turns(rounds: int, running: dict[str, Callable[[], list[str]]]) -> dict[str, tuple[float, float]]:
        best = {}
        for name, contestant in running.items():
            ready, *turns = contestant()
            assert ready == "ready"
            assert len(turns) == 2  # one for each line on stdin
            speed, share = map(float, turns[0].split())
            assert speed > 0
            assert share > 0
            best[name] = (speed, share)
        return best

    for module in (training, training_ladder):
        monkeypatch.setattr(module, "started", start)
        monkeypatch.setattr(module, "best_of", take_turns)
    monkeypatch.setattr(training, "measured_peak", lambda *_: 1e12)
    return commands


def test_training_is_timed_beside_each_peer_in_every_precision(started: Started) -> None:
    shown = run(training.main, "--size", "tiny", "--device", "cpu", "--rounds", "1").stdout
    for name in ("Headlight", *PEERS):
        assert name in shown
        for precision in ("float32", "bfloat16"):
            assert any(command[0] == name and precision in command for command in started)
    assert ("all by oneDNN" in shown) != ("oneDNN is not float32-accurate" in shown)


def test_the_ladder_of_training_has_a_line_for_every_measure(started: Started) -> None:
    shown = run(training_ladder.main, "--size", "tiny", "--device", "cpu", "--rounds", "1").stdout
    on_a_cpu = [rung.name for rung in training_ladder.RUNGS.values() if not rung.compiled]
    assert all(name in shown for name in on_a_cpu)
    assert "torch.compile" not in shown
    assert len(started) == len(on_a_cpu)


def test_ours_is_compiled_as_the_trainer_compiles_unless_an_option_says_otherwise(
    started: Started, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[object] = []
    monkeypatch.setattr(training, "compile_layers", lambda model, device, wanted: asked.append(wanted))
    monkeypatch.setattr(training, "best_of", lambda rounds, running: dict.fromkeys(running, (1.0, 0.5)))
    for options in ((), ("--compile",), ("--no-compile",)):
        run(training.main, "--size", "tiny", "--device", "cpu", *options)
        run(training.main, "--only", *next(command for command in reversed(started) if command[0] == "Headlight"))
    assert asked == ["auto", True, False]


def test_the_ladder_has_the_compiled_line_on_cuda_or_where_it_is_asked_for(
    started: Started, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(training_ladder, "best_of", lambda rounds, running: dict.fromkeys(running, (1.0, 0.5)))
    assert "+ torch.compile" in run(training_ladder.main, "--size", "tiny", "--device", "cpu", "--compiled").stdout
    monkeypatch.setattr(training_ladder, "choose_device", lambda name: torch.device(name))
    assert "+ torch.compile" in run(training_ladder.main, "--size", "tiny", "--device", "cuda").stdout
    asked: list[object] = []
    monkeypatch.setattr(training_ladder, "compile_layers", lambda model, device, wanted: asked.append(wanted))
    for rung in training_ladder.RUNGS.values():
        training_ladder.updater(rung, "tiny", torch.device("cpu"))
    assert asked == [False] * (len(asked) - 1) + [True]


def test_decoding_finds_the_same_in_each_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = {"d_model": 32, "d_ff": 32, "encoder_layers": 1, "decoder_layers": 1}
    shares: list[str] = []
    equal = decoding.equal

    def recorded(found: list[list[int]], expected: list[list[int]]) -> str:
        shares.append(equal(found, expected))
        return shares[-1]

    monkeypatch.setattr(decoding, "SIZES", {"tiny": sizes})
    monkeypatch.setattr(decoding, "SENTENCES", {1: 1, 32: 3})
    monkeypatch.setattr(decoding, "equal", recorded)
    shown = run(decoding.main, "--size", "tiny", "--threads", "1", "--rounds", "1").stdout
    assert shares == ["100%"] * 8  # MarianMT and CTranslate2, two searches, two sizes of batches
    assert "How many times as fast" in shown
    assert all(name in shown for name in ("ours", "MarianMT", "CTranslate2", "by modules"))


@pytest.mark.soak
@pytest.mark.parametrize("name", ["training", "training_ladder"])
def test_contestants_take_turns_in_processes_of_their_own(name: str) -> None:
    command = [sys.executable, "-m", f"tests.benchmarks.{name}", "--size", "tiny", "--rounds", "1", "--device", "cpu"]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert "Target tokens per second in training, size tiny" in ran.stdout
