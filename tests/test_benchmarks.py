"""The benchmarks run: tiny models, in this process. Their times are only meaningful on an idle machine."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
import typer
from typer.testing import CliRunner, Result

from tests.benchmarks import decoding, training, training_neighbour, training_opennmt, training_tricks
from tests.benchmarks.training_peers import PEERS, SIZES
from transformer.config import PAD

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
    """The options of each compared program, which would be its own process; here they run in this one, in turn."""
    commands: Started = []

    def start(module: str, name: str, *options: str) -> Callable[[], list[str]]:
        commands.append((name, *options))
        mains: dict[str, Callable[..., None]] = {
            training.__name__: training.main,
            training_tricks.__name__: training_tricks.main,
        }
        return lambda: run(mains[module], "--only", name, *options, stdin="\n\n").stdout.splitlines()

    def take_turns(rounds: int, running: dict[str, Callable[[], list[str]]]) -> dict[str, tuple[float, float]]:
        best = {}
        for name, program in running.items():
            ready, *turns = program()
            assert ready == "ready"
            assert len(turns) == 2  # one for each line on stdin
            speed, share = map(float, turns[0].split())
            assert speed > 0
            assert share > 0
            best[name] = (speed, share)
        return best

    for module in (training, training_tricks):
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


class OnlyEmbedding(torch.nn.Module):
    """Replaces OpenNMT-py's model: it has the same arguments."""

    def __init__(self, vocabulary: int):
        super().__init__()
        self.embedding = torch.nn.Embedding(vocabulary, 4)
        self.generator = torch.nn.Linear(4, vocabulary)

    def forward(self, source: torch.Tensor, target: torch.Tensor, lengths: torch.Tensor) -> tuple[torch.Tensor, None]:
        assert source.shape[0] == target.shape[0] == len(lengths)
        assert [len(row[row != 0]) for row in source[..., 0]] == lengths.tolist()
        return self.embedding(target[:, :-1, 0]), None  # (B, T, D)


def test_opennmt_gets_the_batches_of_all_others_and_trains_on_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    model = OnlyEmbedding(SIZES["tiny"].vocab_size)
    before = model.embedding.weight.detach().clone()
    commands: list[list[str]] = []
    monkeypatch.setattr(training, "when_ready", lambda name, command: commands.append(command))
    training.with_packages_of("its-python", tmp_path, "tiny", "bfloat16", 0, "none")
    (command,) = commands
    assert command[:3] == ["its-python", "-m", "tests.benchmarks.training_opennmt"]
    monkeypatch.setattr(training_opennmt, "architecture", lambda sizes, dropout: model)
    monkeypatch.setattr("sys.stdin", ["\n", "\n"])
    training_opennmt.main(command[3])
    ready, *turns = capsys.readouterr().out.splitlines()
    assert ready == "ready"
    assert [float(turn.split()[0]) > 0 for turn in turns] == [True, True]
    assert not torch.equal(model.embedding.weight, before)
    for batch, (_, target) in zip(training.batches_of("tiny"), torch.load(command[3])["pairs"], strict=True):
        assert torch.equal(target[:, :-1][batch.labels != PAD], batch.target[batch.labels != PAD])
        assert torch.equal(target[:, 1:], batch.labels)


def test_an_interpreter_without_opennmt_is_reported() -> None:
    app = typer.Typer()
    app.command()(training.main)
    result = CliRunner().invoke(app, ["--opennmt", str(ROOT / "none")], env={"COLUMNS": "250"})
    assert result.exit_code == 2
    assert "is not a Python that can import OpenNMT-py" in result.stderr


def test_the_table_of_training_has_a_line_for_every_measure(started: Started) -> None:
    shown = run(training_tricks.main, "--size", "tiny", "--device", "cpu", "--rounds", "1").stdout
    on_a_cpu = [row.name for row in training_tricks.ROWS.values() if not row.compiled]
    assert all(name in shown for name in on_a_cpu)
    assert "torch.compile" not in shown
    assert len(started) == len(on_a_cpu)


def test_ours_is_compiled_as_the_trainer_compiles_unless_an_option_says_otherwise(
    started: Started, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[object] = []
    monkeypatch.setattr(training, "compile_decoder_output", lambda model, device, wanted: asked.append(wanted))
    monkeypatch.setattr(training, "best_of", lambda rounds, running: dict.fromkeys(running, (1.0, 0.5)))
    for options in ((), ("--compile",), ("--no-compile",)):
        run(training.main, "--size", "tiny", "--device", "cpu", *options)
        run(training.main, "--only", *next(command for command in reversed(started) if command[0] == "Headlight"))
    assert asked == ["auto", True, False]


def test_the_table_has_the_compiled_line_on_cuda_or_where_it_is_asked_for(
    started: Started, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(training_tricks, "best_of", lambda rounds, running: dict.fromkeys(running, (1.0, 0.5)))
    assert "+ torch.compile" in run(training_tricks.main, "--size", "tiny", "--device", "cpu", "--compiled").stdout
    monkeypatch.setattr(training_tricks, "choose_device", lambda name: torch.device(name))
    assert "+ torch.compile" in run(training_tricks.main, "--size", "tiny", "--device", "cuda").stdout
    asked: list[object] = []
    monkeypatch.setattr(training_tricks, "compile_decoder_output", lambda model, device, wanted: asked.append(wanted))
    for row in training_tricks.ROWS.values():
        training_tricks.updater(row, "tiny", torch.device("cpu"))
    assert asked == [False] * (len(asked) - 1) + [True]


def test_training_is_timed_at_rest_and_beside_a_busy_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """The processes of the rows are started as they are, and each takes its turns in this process."""
    commands: dict[str, list[str]] = {}
    environments: list[dict[str, str]] = []
    beside: list[bool] = []  # one entry, while the busy process runs
    turns: list[tuple[str, bool]] = []

    @contextmanager
    def busy_process() -> Iterator[None]:
        with real():
            beside.append(True)
            yield
            beside.clear()

    real = training_neighbour.busy_process

    def when_ready(name: str, command: list[str], environment: dict[str, str]) -> SimpleNamespace:
        commands[name] = command[3:]
        environments.append(environment)
        return SimpleNamespace(name=name, communicate=lambda: None)

    def speed(process: SimpleNamespace, seconds: float) -> float:
        ready, turn = run(training_neighbour.main, *commands[process.name], stdin=f"0 {seconds}\n").stdout.splitlines()
        assert ready == "ready"
        turns.append((process.name, bool(beside)))
        return float(turn)

    monkeypatch.setenv("OMP_WAIT_POLICY", "passive")  # set by the user: the rows must not depend on it
    monkeypatch.setattr(training_neighbour, "when_ready", when_ready)
    monkeypatch.setattr(training_neighbour, "speed", speed)
    monkeypatch.setattr(training_neighbour, "busy_process", busy_process)
    shown = run(
        training_neighbour.main, "--size", "tiny", "--rounds", "2", "--seconds", "0.01", "--spins", "5000"
    ).stdout
    assert all(name in shown for name in (training_neighbour.ALONE, training_neighbour.OURS, "5,000 spins"))
    assert [environment.get("GOMP_SPINCOUNT") for environment in environments] == [None, None, "5000"]
    assert not any("OMP_WAIT_POLICY" in environment for environment in environments)
    names = list(commands)
    order = [*names, *names, *reversed(names), *reversed(names)]
    assert turns == list(zip(order, ([False] * 3 + [True] * 3) * 2, strict=True))
    assert "nan" not in shown


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
@pytest.mark.parametrize("name", ["training", "training_tricks"])
def test_the_compared_programs_take_turns_in_separate_processes(name: str) -> None:
    command = [sys.executable, "-m", f"tests.benchmarks.{name}", "--size", "tiny", "--rounds", "1", "--device", "cpu"]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert "Target tokens per second in training, size tiny" in ran.stdout


@pytest.mark.soak
def test_training_beside_a_busy_process_is_timed_in_processes_of_their_own() -> None:
    options = ["--size", "tiny", "--rounds", "1", "--seconds", "0.01", "--nice", "1"]
    command = [sys.executable, "-m", "tests.benchmarks.training_neighbour", *options]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert "Target tokens per second in training, size tiny" in ran.stdout
