"""How the threads of one operation wait for each other on a CPU: spinning, or asleep.

torch divides an operation among OpenMP threads, and each waits until the last one is done. libgomp, which runs these
threads in torch's packages for Linux, lets a waiting thread spin for milliseconds before it sleeps. While each thread
has its own core, that is fastest: an operation of a small model takes less time than waking a thread. While another
program uses one of the cores, a spinning thread takes the core from the thread that it waits for.

libgomp spins 3,000 times less while it counts more OpenMP threads than cores (GOMP_SPINCOUNT in its manual). So while
the threads of this process are short of cores, this module adds OpenMP threads that only sleep.

Trap: computing with fewer threads meanwhile would help as well, but the number of threads decides in which order a sum
is added up, and no two runs would end in the same bits. Test:
test_a_run_beside_other_programs_ends_in_the_same_bits.
"""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event, Thread

import torch

PROCESS = Path("/proc/self")
INTERVAL = 0.25  # seconds of one measurement
MOST_WAITING = 0.3  # cores are short if more threads than this wait for one, on average over a measurement
PAUSE, LONGEST_PAUSE = 2.0, 16.0  # seconds that the sleeping threads stay, doubled each time that cores are short again
DIVIDED = 2**16  # a tensor of so many numbers is divided among threads


@contextmanager
def spinning_on_free_cores(device: torch.device) -> Iterator[None]:
    """Inside, threads that wait for each other spin only while this process has enough cores.

    Nothing changes if the device is not a CPU, if only one thread computes, if the system does not report how long
    threads wait for a core (it is not Linux), or if the user has set OMP_WAIT_POLICY or GOMP_SPINCOUNT.
    """
    chosen = "OMP_WAIT_POLICY" in os.environ or "GOMP_SPINCOUNT" in os.environ
    reported = (PROCESS / "schedstat").exists()
    if device.type != "cpu" or torch.get_num_threads() == 1 or chosen or not reported:
        yield
        return
    ended = Event()
    watcher = Thread(target=_watch, args=(ended,), name="watch for free cores", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        ended.set()
        watcher.join()


def _watch(ended: Event) -> None:
    """Measures until `ended` is set, and adds the sleeping threads for a while where cores are short.

    It does not measure while the sleeping threads are there: then the computing threads do not spin, and the time until
    they are woken says little about other programs.
    """
    pause = PAUSE
    while not ended.is_set():
        began, waited = time.perf_counter(), seconds_without_core()
        ended.wait(INTERVAL)
        waiting = (seconds_without_core() - waited) / (time.perf_counter() - began)  # threads without a core
        if waiting < MOST_WAITING:
            pause = PAUSE
            continue
        with more_threads_than_cores():
            ended.wait(pause)
        pause = min(2 * pause, LONGEST_PAUSE)


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
    leaders = [Thread(target=_lead_team, args=(ended,), name="sleeping", daemon=True) for _ in range(teams)]
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
