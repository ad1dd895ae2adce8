"""How the threads of one operation wait for each other on a CPU: spinning, or asleep.

torch divides an operation among OpenMP threads, and each waits until the last one is done. libgomp, which has these
threads in torch's packages for Linux, lets a waiting thread spin for milliseconds before it sleeps. While each thread
has a core to itself, that is fastest: an operation of a small model takes less time than waking a thread. While another
program uses one of the cores, a spinning thread takes the core from the thread that it waits for.

libgomp spins 3,000 times less while it counts more OpenMP threads than cores (GOMP_SPINCOUNT in its manual). So while
the threads of this process are short of cores, this module adds OpenMP threads that only sleep. The number of threads
that compute does not change: it decides in which order a sum is added up, so a resumed run would end in other bits.
"""

import os
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from threading import Event, Thread

import torch

PROCESS = Path("/proc/self")
INTERVAL = 0.25  # seconds between two measurements
SHORT, ENOUGH = 0.25, 0.1  # threads that wait for a core, on average over an interval
CALM = 8  # intervals with enough cores, one after the other, until threads spin again
DIVIDED = 2**16  # numbers in a tensor that torch divides among threads


@contextmanager
def spinning_on_free_cores(device: torch.device) -> Iterator[None]:
    """Inside, threads that wait for each other spin only while this process has enough cores.

    Nothing changes where one thread computes, where the system does not report how long threads wait for a core (it is
    not Linux), and where the user has set OMP_WAIT_POLICY or GOMP_SPINCOUNT.
    """
    chosen = "OMP_WAIT_POLICY" in os.environ or "GOMP_SPINCOUNT" in os.environ
    reported = (PROCESS / "schedstat").exists()
    if device.type != "cpu" or torch.get_num_threads() == 1 or chosen or not reported:
        yield
        return
    ended = Event()
    watcher = Thread(target=_watch, args=(ended,), name="spinning", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        ended.set()
        watcher.join()


def _watch(ended: Event) -> None:
    """Measures until `ended` is set, and adds or removes the sleeping threads."""
    measured_at, waited, calm = time.perf_counter(), seconds_without_core(), CALM
    with ExitStack() as added:
        while not ended.wait(INTERVAL):
            now, total = time.perf_counter(), seconds_without_core()
            waiting = (total - waited) / (now - measured_at)  # threads
            measured_at, waited = now, total
            if calm == CALM:
                if waiting > SHORT:
                    added.enter_context(more_threads_than_cores())
                    calm = 0
            else:
                calm = calm + 1 if waiting < ENOUGH else 0
                if calm == CALM:
                    added.close()


def seconds_without_core() -> float:
    """How long the threads of this process have been ready to compute and without a core, summed over all of them."""
    nanoseconds = 0
    for task in (PROCESS / "task").iterdir():
        with suppress(FileNotFoundError, ProcessLookupError):  # the thread has ended
            nanoseconds += int((task / "schedstat").read_bytes().split()[1])
    return nanoseconds / 1e9


@contextmanager
def more_threads_than_cores() -> Iterator[None]:
    """Inside, there are more OpenMP threads than cores, and the additional ones sleep."""
    threads, cores = torch.get_num_threads(), len(os.sched_getaffinity(0))
    teams = -(-cores // (threads - 1)) - 1  # a thread that divides its work gets `threads` - 1 helpers of its own
    ended = Event()
    leaders = [Thread(target=_lead_team, args=(ended,), name="spinning", daemon=True) for _ in range(teams)]
    for leader in leaders:
        leader.start()
    try:
        yield
    finally:
        ended.set()
        for leader in leaders:
            leader.join()


def _lead_team(ended: Event) -> None:
    torch.zeros(DIVIDED).add_(1.0)  # its helpers exist from here on until this thread ends
    ended.wait()
