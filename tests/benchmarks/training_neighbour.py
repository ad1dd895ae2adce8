"""How fast is training on a CPU while another program keeps one core busy? How threads wait for each other decides it.

    python -m tests.benchmarks.training_neighbour [--size toy|small|base] [--rounds 30] [--seconds 2] [--nice 10]
                                                  [--spins 0 --spins 5000 ...] [--threads 2]

Each row of the table is a process of its own, which trains a model on random tokens: as torch does it by itself, as our
trainer does it (transformer/kernels/thread_waiting.py), and by itself with each GOMP_SPINCOUNT that --spins adds. In
each round every process trains for --seconds at rest, then each of them beside a busy Python loop; the order is
reversed in every second round. The table has medians with quartiles, and the ratios are of speeds in the same round: so
any other program that happens to run for a while disturbs all rows alike. "Kept" is the speed beside the loop divided
by the speed at rest.
"""

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from itertools import cycle
from typing import Annotated

import torch
import typer
from rich.console import Console
from rich.table import Table

from tests.benchmarks.training import batches_of, headlight, when_ready
from tests.benchmarks.training_peers import SizeName, config_of
from transformer.kernels.thread_waiting import INTERVAL, spinning_on_free_cores

ALONE, OURS = "torch by itself", "our trainer"
SITUATIONS = ("at rest", "beside")
BUSY = "while True: pass"
SETTLING = 2 * INTERVAL  # seconds until the trainer knows whether cores are short

Found = dict[str, dict[str, list[float]]]  # by row and situation, the target tokens per second of each round


def contest(size: SizeName, threads: int, nice: int, ours: bool) -> None:
    """One row: for each line on stdin, trains for so many seconds and prints its target tokens per second."""
    os.nice(nice)  # before torch starts threads: each has a priority of its own
    if threads:
        torch.set_num_threads(threads)
    torch.manual_seed(0)
    update = headlight(config_of(size), "auto", torch.device("cpu"), None)
    batches = batches_of(size)
    for batch in batches:
        update(batch)
    following = cycle(batches)

    def train(seconds: float) -> float:
        began, tokens = time.perf_counter(), 0
        while time.perf_counter() < began + seconds:
            batch = next(following)
            update(batch)
            tokens += batch.target_tokens
        return tokens / (time.perf_counter() - began)

    print("ready", flush=True)
    for line in sys.stdin:
        before, timed = map(float, line.split())
        with spinning_on_free_cores(torch.device("cpu")) if ours else nullcontext():
            train(before)
            print(train(timed), flush=True)


def started(name: str, spins: int | None, *options: str) -> "subprocess.Popen[str]":
    """The process of one row, when it is ready. `spins`: None for libgomp's default."""
    environment = {key: value for key, value in os.environ.items() if key not in ("GOMP_SPINCOUNT", "OMP_WAIT_POLICY")}
    if spins is not None:
        environment["GOMP_SPINCOUNT"] = str(spins)
    return when_ready(name, [sys.executable, "-m", __spec__.name, "--only", name, *options], environment)


@contextmanager
def busy_process() -> Iterator[None]:
    """Another program that computes all the time, with one thread."""
    with subprocess.Popen([sys.executable, "-c", BUSY]) as process:
        try:
            yield
        finally:
            process.kill()


def speed(process: "subprocess.Popen[str]", seconds: float) -> float:
    """Target tokens per second of one turn."""
    assert process.stdin
    assert process.stdout
    process.stdin.write(f"{SETTLING if seconds else 0} {seconds}\n")
    process.stdin.flush()
    return float(process.stdout.readline())


def measure(running: dict[str, "subprocess.Popen[str]"], rounds: int, seconds: float) -> Found:
    """The speed of each in each situation, in every round. Ends the processes."""
    found: Found = {name: {situation: [] for situation in SITUATIONS} for name in running}
    for number in range(rounds):
        order = list(running) if number % 2 == 0 else list(reversed(running))
        for name in order:
            found[name]["at rest"].append(speed(running[name], seconds))
        with busy_process():
            for name in order:
                found[name]["beside"].append(speed(running[name], seconds))
    for process in running.values():
        process.communicate()
    return found


def spread(values: list[float]) -> str:
    """The median with the quartiles: "1,234 (1,100 to 1,300)"."""
    low, middle, high = statistics.quantiles(values, method="inclusive") if len(values) > 1 else values * 3
    digits = 0 if middle > 100 else 2
    return f"{middle:,.{digits}f} ({low:,.{digits}f} to {high:,.{digits}f})"


def ratio(values: list[float], others: list[float]) -> str:
    """The spread of ratios of what was measured in the same round."""
    return spread([value / other for value, other in zip(values, others, strict=True)])


def main(
    size: Annotated[SizeName, typer.Option(help="Of model and batch.")] = "toy",
    rounds: Annotated[int, typer.Option(help="How often each row is timed in each situation.")] = 30,
    seconds: Annotated[float, typer.Option(help="How long a row is timed in each round and situation.")] = 2.0,
    spins: Annotated[list[int] | None, typer.Option(help="One more row, with this GOMP_SPINCOUNT.")] = None,
    threads: Annotated[int, typer.Option(help="0: as many as torch likes.")] = 0,
    nice: Annotated[int, typer.Option(help="By how much training has a lower priority: 10 in the app.")] = 0,
    only: Annotated[str, typer.Option(hidden=True)] = "",  # the row to measure in this process
) -> None:
    """Prints the table."""
    if only:
        return contest(size, threads, nice, ours=only == OURS)
    rows = {ALONE: None, OURS: None} | {f"{number:,} spins": number for number in spins or ()}
    options = ("--size", size, "--threads", str(threads), "--nice", str(nice))
    running = {name: started(name, number, *options) for name, number in rows.items()}
    found = measure(running, rounds, seconds)
    table = Table(title=f"Target tokens per second in training, size {size}")
    for column in ("", "at rest", "beside a busy process", "kept", "at rest, ratio to torch", "beside, ratio to torch"):
        table.add_column(column, justify="right" if column else "left")
    for name, of in found.items():
        speeds = [spread(of[situation]) for situation in SITUATIONS]
        ratios = [ratio(of[situation], found[ALONE][situation]) for situation in SITUATIONS]
        table.add_row(name, *speeds, ratio(of["beside"], of["at rest"]), *ratios)
    Console().print(table)
    return None


if __name__ == "__main__":
    typer.run(main)
