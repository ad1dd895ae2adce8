"""Time and memory that a corpus takes, from 10^4 to 10^6 pairs: time shall grow with it, memory not at all.

    python -m tests.benchmarks.corpora [PAIRS ...]

English numbers and German ones are made on the fly and written to a file. A run of a tiny model then prepares it and
makes a few updates; a second one finds all prepared. Each is a process of its own. Time is given twice, for another
program on the machine lengthens only the first; memory is read from /proc (Linux):

    seconds     from the beginning to the end
    computing   what processors spent, of all its processes together, in seconds
    peak        the most that was resident in the process, all counted: VmHWM. Pages of mapped files count as long as
                the system has no other use for them.
    own         the most that was its own, without pages of files (RssAnon, looked at a hundred times a second)
    workers     the most that all worker processes had together, all counted

Of peak and own, 0.3 GB is torch and our code before anything is read; learning the vocabulary takes up to 0.6 GB more,
however large the corpus (30 million characters of it are learnt from).

Measured on one core that other programs used as well, so only the time of computing is given:

    | pairs     | text, MB | computing | next | peak | own  | workers | peak, next |
    | 10,000    | 0.9      | 2.9       | 0.7  | 0.47 | 0.34 | 0.00    | 0.46       |
    | 100,000   | 9.2      | 25.1      | 0.9  | 0.64 | 0.51 | 0.00    | 0.47       |
    | 1,000,000 | 91.6     | 79.0      | 3.1  | 1.15 | 1.00 | 0.15    | 0.56       |

Ten times the pairs take nine times as long, and ten times more only three times, for no more than 30
million characters are learnt from.
"""

import argparse
import os
import resource
import tempfile
import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerContext, SpawnContext
from pathlib import Path

from transformer.config import ModelConfig, Recipe, TokenizerConfig, TrainingConfig
from transformer.data.data_options import DataConfig
from transformer.data.toy_tasks import Bounds, toy_pairs

MODEL = ModelConfig(vocab_size=500, encoder_layers=1, decoder_layers=1, d_model=16, d_ff=32, heads=2)
AT_ONCE = 10_000  # pairs made together
SPAWN = get_context("spawn")


@dataclass(frozen=True)
class Cost:
    """Of one run, in seconds and bytes."""

    seconds: float
    computing: float
    peak: int
    own: int
    workers: int


def write_corpus(path: Path, pairs: int) -> Path:
    """English numbers and German ones, one pair per line."""
    with path.open("w", encoding="utf-8") as file:
        for seed in range(-(-pairs // AT_ONCE)):
            count = min(AT_ONCE, pairs - seed * AT_ONCE)
            for source, target in toy_pairs("numbers", seed, count, Bounds(max_number=999_999_999)):
                file.write(f"{source}\t{target}\n")
    return path


def learn(corpus: Path, folder: Path, say: Connection) -> None:
    """Trains for a few updates and says what that took."""
    from transformer.training import train  # not above: worker processes import this file, and shall not import torch

    recipe = Recipe(
        model=MODEL,
        tokenizer=TokenizerConfig(vocab_size=500),
        data=DataConfig(
            train=(str(corpus),), valid_size=100, tokens_per_batch=2000, prepared=str(corpus.with_suffix(".prepared"))
        ),
        training=TrainingConfig(updates=5, warmup=2, validate_every=5, save_every=5, validation_sentences=20),
    )
    most = {"own": 0, "workers": 0}
    ended = threading.Event()

    def watch() -> None:
        while not ended.wait(0.01):
            most["own"] = max(most["own"], resident(os.getpid(), "RssAnon"))
            most["workers"] = max(most["workers"], sum(resident(child, "VmRSS") for child in children()))

    watcher = threading.Thread(target=watch)
    watcher.start()
    began, computed = time.monotonic(), computing()
    try:
        train(recipe, folder, device="cpu")
    finally:
        seconds, computed = time.monotonic() - began, computing() - computed
        ended.set()
        watcher.join()
    say.send(Cost(seconds, computed, resident(os.getpid(), "VmHWM"), most["own"], most["workers"]))


def computing() -> float:
    """Seconds that processors have spent for this process and for those it has started that have ended."""
    return time.process_time() + sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])


def cost(corpus: Path, folder: Path, context: SpawnContext | ForkServerContext = SPAWN) -> Cost:
    """What a run costs, measured in a process of its own."""
    hear, say = context.Pipe(duplex=False)
    process = context.Process(target=learn, args=(corpus, folder, say))
    process.start()
    say.close()
    try:
        found: Cost = hear.recv()
    finally:
        process.join()
    return found


def resident(process: int, what: str) -> int:
    """A line of /proc/PROCESS/status, in bytes; 0 for a process that has ended."""
    try:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{what}:"))


def children() -> Iterable[int]:
    """The processes that this one started, from whichever thread.

    Trap: until it runs its own program, a new process has the memory of the one that started
    it, which would be counted twice. It has that one's stack
    (test_a_process_that_is_just_being_started_is_not_counted).
    """
    ours = stack("self")
    for task in Path("/proc/self/task").iterdir():
        try:
            yield from (child for child in map(int, (task / "children").read_text().split()) if stack(child) != ours)
        except OSError:
            continue


def stack(process: int | str) -> int:
    """Where the stack of a process begins: another place for each program that is started. 0: it has ended."""
    try:
        return int(Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[25])
    except OSError:
        return 0


def main(sizes: list[int]) -> None:
    """Prints the table."""
    print(f"{os.cpu_count()} cores; time in seconds, memory in GB")
    print("| pairs | text, MB | first run | computing | next run | computing | peak | own | workers | peak, next |")
    print("| ---: |" + " ---: |" * 9)
    for pairs in sizes:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            corpus = write_corpus(folder / "corpus.tsv", pairs)
            first, following = (cost(corpus, folder / run) for run in ("first", "next"))
            print(row(pairs, corpus.stat().st_size, first, following), flush=True)


def row(pairs: int, size: int, first: Cost, following: Cost) -> str:
    """A line of the table; `size`: of the text, in bytes."""
    times = (first.seconds, first.computing, following.seconds, following.computing)
    memory = (first.peak, first.own, first.workers, following.peak)
    cells = [f"{pairs:,}", f"{size / 1e6:.1f}", *(f"{each:.1f}" for each in times)]
    return f"| {' | '.join([*cells, *(f'{each / 1e9:.2f}' for each in memory)])} |"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Time and memory that a corpus takes (the file's first lines).")
    parser.add_argument("pairs", nargs="*", type=int, default=[10**4, 10**5, 10**6])
    main(parser.parse_args().pairs)
