"""Threads that wait for each other sleep while other programs use the cores; what a run computes stays the same."""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from typer.testing import CliRunner

from tests.support.patience import PATIENCE
from tests.support.small_training import assert_same_run, knowing_torch, toy_recipe, wrap_update
from transformer.cli import app
from transformer.decoding.translator import Translator
from transformer.kernels import thread_waiting
from transformer.kernels.thread_waiting import spinning_on_free_cores
from transformer.training import flops
from transformer.training.trainer import train

ROOT = Path(__file__).parents[2]
CPU = torch.device("cpu")
COUNT_THREADS = """
import os
import torch
from transformer.kernels.thread_waiting import DIVIDED, more_threads_than_cores

def count():
    return len(os.listdir("/proc/self/task"))

def until(reached):
    while not reached():
        pass

cores = len(os.sched_getaffinity(0))
torch.set_num_threads(THREADS)
torch.zeros(DIVIDED).add_(1.0)
before = count()  # with those that torch has beside OpenMP's
for _ in range(2):
    with more_threads_than_cores():
        teams = -(-cores // (THREADS - 1)) - 1
        until(lambda: count() == before + teams * THREADS)
        assert THREADS + teams * (THREADS - 1) > cores
    until(lambda: count() == before)
"""
TWO_ON_ONE_CORE = """
import os
from transformer.kernels.thread_waiting import seconds_without_core

os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
parent = os.getpid()
if child := os.fork():
    before = seconds_without_core()
    while seconds_without_core() < before + 0.05:
        pass
    os.kill(child, 9)
while os.getpid() != parent and os.getppid() == parent:
    pass
"""

pytestmark = pytest.mark.skipif(not Path("/proc/self/schedstat").exists(), reason="the system does not report waiting")


@pytest.fixture(autouse=True)
def _several_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """And nothing set by who runs the tests."""
    monkeypatch.setattr(torch, "get_num_threads", lambda: 2)
    monkeypatch.delenv("OMP_WAIT_POLICY", raising=False)
    monkeypatch.delenv("GOMP_SPINCOUNT", raising=False)


def watchers() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "watch for free cores"]


class Cores:
    """In place of the clock and the measurement: how many threads wait for a core, and for how long they are helped."""

    def __init__(self, waiting: list[float]):
        self.waiting, self.now, self.waited, self.helps = iter(waiting), 0.0, 0.0, False
        self.pauses: list[float] = []
        self.ended = False

    def is_set(self) -> bool:
        return self.ended

    def wait(self, seconds: float) -> None:
        self.now += seconds
        if self.helps:
            self.pauses.append(seconds)
            return
        waiting = next(self.waiting, None)
        self.ended = waiting is None
        self.waited += (waiting or 0.0) * seconds

    @contextmanager
    def more_threads_than_cores(self) -> Iterator[None]:
        assert not self.helps
        self.helps = True
        yield
        self.helps = False


@pytest.mark.parametrize(
    ("waiting", "pauses"),
    [
        ([0.0, 0.05, 0.2], []),
        ([0.0, 0.5, 0.0, 0.0, 0.5, 0.0], [2, 2]),
        ([1.0] * 6, [2, 4, 8, 16, 16, 16]),
        ([1.4, 1.4, 1.4, 0.0, 1.4], [2, 4, 8, 2]),
    ],
)
def test_sleeping_threads_are_added_while_cores_are_short(
    waiting: list[float], pauses: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    cores = Cores(waiting)
    monkeypatch.setattr(thread_waiting, "time", SimpleNamespace(perf_counter=lambda: cores.now))
    monkeypatch.setattr(thread_waiting, "seconds_without_core", lambda: cores.waited)
    monkeypatch.setattr(thread_waiting, "more_threads_than_cores", cores.more_threads_than_cores)
    thread_waiting._watch(cores)  # type: ignore[arg-type]
    assert cores.pauses == pauses
    assert not cores.helps


@pytest.mark.parametrize("threads", [2, pytest.param(3, marks=pytest.mark.soak)])
def test_there_are_more_openmp_threads_than_cores_and_then_as_many_as_before(threads: int) -> None:
    code = COUNT_THREADS.replace("THREADS", str(threads))
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, timeout=PATIENCE)


def test_a_process_without_a_core_is_measured() -> None:
    subprocess.run([sys.executable, "-c", TWO_ON_ONE_CORE], cwd=ROOT, check=True, timeout=PATIENCE)


@pytest.mark.parametrize("name", ["OMP_WAIT_POLICY", "GOMP_SPINCOUNT"])
def test_what_a_user_has_set_is_left_alone(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with spinning_on_free_cores(CPU):
        assert len(watchers()) == 1
    monkeypatch.setenv(name, "active")
    with spinning_on_free_cores(CPU):
        assert watchers() == []


def test_one_thread_waits_for_nobody_and_neither_does_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    with spinning_on_free_cores(torch.device("cuda")):
        assert watchers() == []
    monkeypatch.setattr(torch, "get_num_threads", lambda: 1)
    with spinning_on_free_cores(CPU):
        assert watchers() == []


def test_a_system_that_does_not_report_waiting_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(thread_waiting, "PROCESS", tmp_path)
    with spinning_on_free_cores(CPU):
        assert watchers() == []


def test_training_is_monitored_until_it_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = set()

    wrap_update(monkeypatch, before=lambda _: seen.add(len(watchers())))
    train(toy_recipe(updates=2), tmp_path / "run", device="cpu")
    assert seen == {1}
    assert watchers() == []


@pytest.mark.parametrize("command", [["translate", "--input", "a.txt"], ["evaluate", "--data", "a.tsv"]])
def test_a_command_that_translates_is_monitored_until_it_ends(
    command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = set()
    search = Translator.translate_each

    def searched(self: Translator, *arguments: Any, **options: Any) -> Any:
        seen.add(len(watchers()))
        return search(self, *arguments, **options)

    monkeypatch.setattr(Translator, "translate_each", searched)
    monkeypatch.chdir(tmp_path)
    Path("a.txt").write_text("a b c\n", encoding="utf-8")
    Path("a.tsv").write_text("a b c\tc b a\n", encoding="utf-8")
    name, *options = command
    checkpoint = str(ROOT / "pretrained" / "reverse.safetensors")
    result = CliRunner().invoke(app, [name, checkpoint, *options])
    assert result.exit_code == 0, result.output
    assert seen == {1}
    assert watchers() == []


def train_with_two_threads(run: Path, crowded: bool) -> None:
    """`crowded`: cores are short in every measurement, and threads sleep and spin in turns."""
    os.environ.pop("OMP_WAIT_POLICY", None)
    os.environ.pop("GOMP_SPINCOUNT", None)
    torch.set_num_threads(2)
    flops.SIDES, flops.MEASURE_FOR = {"cpu": 64}, 0.0
    turns, added = iter(range(10**9)), []
    more = thread_waiting.more_threads_than_cores

    @contextmanager
    def counted() -> Iterator[None]:
        with more():
            added.append(1)
            yield

    if crowded:
        thread_waiting.INTERVAL = thread_waiting.PAUSE = thread_waiting.LONGEST_PAUSE = 0.001
        thread_waiting.seconds_without_core = lambda: next(turns) * 1.0
        thread_waiting.more_threads_than_cores = counted
    recipe = toy_recipe(updates=12)
    train(recipe, run, device="cpu")
    assert bool(added) == crowded


@pytest.mark.soak
def test_a_run_beside_other_programs_ends_in_the_same_bits(tmp_path: Path) -> None:
    """Trap: with another number of threads it would not."""
    for crowded in (False, True):
        process = knowing_torch().Process(target=train_with_two_threads, args=(tmp_path / str(crowded), crowded))
        process.start()
        process.join(timeout=PATIENCE)
        assert process.exitcode == 0
    assert_same_run(tmp_path / "False", tmp_path / "True")
