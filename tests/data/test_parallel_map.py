"""Several processes give the same results as one. They end when asked to, or when the main process has ended."""

import gc
import logging
import os
import signal
import subprocess
import sys
import time
from _thread import start_new_thread
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from functools import partial
from multiprocessing import Pipe
from multiprocessing.context import SpawnProcess
from pathlib import Path
from threading import Thread
from types import FrameType
from typing import Any

import pytest

from tests.support.patience import PATIENCE
from transformer.data import parallel_map
from transformer.data.parallel_map import in_order, processes_for
from transformer.errors import CorpusError

ROOT = Path(__file__).parents[2]
ON_LINUX = pytest.mark.skipif(sys.platform != "linux", reason="who still lives is read from /proc")
SLOW = """
import os, signal, sys, time
from functools import partial
from pathlib import Path
from tests.data.test_parallel_map import slowly
from transformer.data.parallel_map import in_order

if __name__ == "__mp_main__":  # a new process, before it does anything of ours
    Path(sys.argv[1]).with_name(f"begins-{os.getpid()}").touch()
    time.sleep(0.5)
if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job would be deaf to it
    for _ in in_order(partial(slowly, Path(sys.argv[1])), range(100), 2):
        pass
"""


def square() -> Callable[[int], int]:
    return lambda number: number**2


def refuse(number: int) -> int:
    if number == 7:
        raise CorpusError("The seventh, line 7, is wrong.")
    return number


def refusing() -> Callable[[int], int]:
    return refuse


def deadly(ours: int) -> Callable[[int], int]:
    """Work that kills the worker process."""

    def work(number: int) -> int:
        if number == 5 and os.getpid() != ours:
            os.kill(os.getpid(), signal.SIGKILL)
        return number**2

    return work


def slowly(folder: Path) -> Callable[[int], int]:
    """Work that takes an hour, in a process that writes its id into a folder."""
    (folder / str(os.getpid())).touch()

    def work(number: int) -> int:
        time.sleep(3600 if number else 0)
        return number

    return work


def alive(process: int) -> bool:
    """Whether the process runs and is not a zombie."""
    status = Path(f"/proc/{process}/stat")
    try:
        return status.read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


def wait_until(true: Callable[[], bool]) -> bool:
    until = time.monotonic() + PATIENCE
    while not true() and time.monotonic() < until:
        time.sleep(0.05)
    return true()


def begun(folder: Path) -> list[int]:
    return [int(path.name) for path in folder.iterdir() if path.name.isdecimal()]


@pytest.mark.parametrize("processes", [1, 2])
def test_results_are_in_order_and_only_the_needed_portions_are_drawn(processes: int) -> None:
    drawn = []

    def portions() -> Iterator[int]:
        for number in range(50):
            drawn.append(number)
            yield number

    found = []
    for result in in_order(square, portions(), processes):
        found.append(result)
        assert len(drawn) <= len(found) + parallel_map.PREFETCH * processes
    assert found == [number**2 for number in range(50)]


@pytest.mark.parametrize("processes", [1, 2])
def test_an_error_in_a_portion_is_raised_as_with_one_process(processes: int) -> None:
    results = in_order(refusing, range(20), processes)
    assert [next(results) for _ in range(7)] == list(range(7))
    with pytest.raises(CorpusError, match=r"The seventh, line 7, is wrong\."):
        next(results)


def test_an_error_of_the_portions_themselves_is_raised() -> None:
    def portions() -> Iterator[int]:
        yield 1
        raise OSError("the disk is gone")

    with pytest.raises(OSError, match="the disk is gone"):
        list(in_order(square, portions(), 2))


def test_if_a_process_dies_the_parent_does_the_work(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        assert list(in_order(partial(deadly, os.getpid()), range(20), 2)) == [number**2 for number in range(20)]
    assert "continuing in one" in caplog.text


def test_if_no_process_can_be_started_the_parent_does_the_work(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def start(process: object) -> None:
        raise OSError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(SpawnProcess, "start", start)
    assert list(in_order(square, range(5), 2)) == [0, 1, 4, 9, 16]
    assert "Resource temporarily unavailable" in caplog.text


@ON_LINUX
def test_stopping_ends_the_processes_at_once(tmp_path: Path) -> None:
    with closing(in_order(partial(slowly, tmp_path), range(100), 2)) as results:
        next(results)
        assert wait_until(lambda: len(begun(tmp_path)) == 2)
        began = time.monotonic()
    assert time.monotonic() - began < PATIENCE  # the work would take an hour
    assert wait_until(lambda: not any(map(alive, begun(tmp_path))))


def large() -> Callable[[bytes], bytes]:
    return lambda portion: portion


def test_stopping_works_while_large_portions_are_sent() -> None:
    """Some of these stop while a portion is sent."""
    for _ in range(4):
        results = in_order(large, [bytes(40_000_000)] * 100, 2)
        next(results)
        closes = Thread(target=results.close, daemon=True)
        closes.start()
        closes.join(PATIENCE)
        assert not closes.is_alive()


@contextmanager
def slow_script(folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Starts two processes that work slowly."""
    (folder / "slow.py").write_text(SLOW)
    (folder / "begun").mkdir()
    command = [sys.executable, str(folder / "slow.py"), str(folder / "begun")]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(command, cwd=ROOT, env=environment, stderr=subprocess.DEVNULL)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


@ON_LINUX
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_processes_end_when_the_parent_is_killed(number: signal.Signals, tmp_path: Path) -> None:
    with slow_script(tmp_path) as process:
        assert wait_until(lambda: len(begun(tmp_path / "begun")) == 2)
        process.send_signal(number)
        assert process.wait(timeout=PATIENCE) != 0
    assert wait_until(lambda: not any(map(alive, begun(tmp_path / "begun"))))


def test_an_idle_process_ends_without_output_when_the_parent_is_killed() -> None:
    process, pipe = parallel_map._start(square)
    pipe.send(3)
    assert pipe.recv() == (9, None)
    pipe.close()  # as the system does then
    process.join(60)
    assert process.exitcode == 0  # 1 after a traceback


@ON_LINUX
def test_ctrl_c_while_processes_start_is_handled_by_the_parent_only(tmp_path: Path) -> None:
    with slow_script(tmp_path):
        assert wait_until(lambda: len(list(tmp_path.glob("begins-*"))) == 2)
        for path in tmp_path.glob("begins-*"):
            os.kill(int(path.name.removeprefix("begins-")), signal.SIGINT)
        assert wait_until(lambda: len(begun(tmp_path / "begun")) == 2)
        assert all(map(alive, begun(tmp_path / "begun")))


class _InThread:
    """Replaces a process: a thread that answers."""

    def __init__(self, make: Callable[[], Callable[[int], int]]):
        self.ours, self.theirs = Pipe()
        start_new_thread(self.serve, (make(),))

    def serve(self, work: Callable[[int], int]) -> None:
        with suppress(EOFError, OSError):
            while True:
                self.theirs.send((work(self.theirs.recv()), None))

    def terminate(self) -> None:
        pass  # its thread ends with the other end of its pipe

    def join(self) -> None:
        pass


@pytest.fixture
def no_garbage() -> Iterator[None]:
    """Nothing of an earlier test is finalised in this one: Python ignores exceptions in finalisers."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("no_garbage")
def test_a_signal_at_any_line_ends_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also within Python's own code for threads and locks: no lock is left that somebody waits for."""
    monkeypatch.setattr(parallel_map, "_start", lambda make: ((process := _InThread(make)), process.ours))
    found: list[int] | None = None
    line = 0
    while found is None:
        line += 1
        passed = 0

        def interrupt(frame: FrameType, event: str, _: object, line: int = line) -> Any:
            nonlocal passed
            if frame.f_globals["__name__"] in (__name__, "contextlib"):
                return None  # what is here for the test
            passed += event == "line"
            if event == "line" and passed == line:
                raise KeyboardInterrupt
            return interrupt

        def work() -> None:
            nonlocal found
            drawn = in_order(square, iter(range(6)), 2)
            sys.settrace(interrupt)
            with suppress(KeyboardInterrupt):
                found = list(drawn)
            sys.settrace(None)

        worker = Thread(target=work, daemon=True)
        worker.start()
        worker.join(PATIENCE)
        assert not worker.is_alive()
    assert found == [number**2 for number in range(6)]
    assert line > 100


def test_there_is_a_process_per_core_but_only_one_for_little_work() -> None:
    assert processes_for(0, 0) == processes_for(19, 0) == processes_for(19, 8) == 1
    assert processes_for(10**6, 3) == 3
    assert processes_for(45, 8) == 4
    assert processes_for(10**6, 0) == (len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count())
    assert processes_for(10**6, 1) == 1


def test_the_processes_import_no_torch() -> None:
    code = "import sys, transformer.data.encoding, transformer.data.text_preparation; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
