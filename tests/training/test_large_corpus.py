"""A corpus of a million pairs is prepared and trained on in memory that any laptop has, and that does not grow."""

import os
import subprocess
import sys
from multiprocessing.context import ForkServerContext, SpawnContext
from pathlib import Path

import pytest

from tests.benchmarks.corpora import SPAWN, Cost, children, cost, resident, write_corpus
from tests.support.small_training import knowing_torch

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
MOST = 1.5e9  # bytes resident in the process that trains, all counted
VOCABULARY = 0.8e9  # bytes that learning it may take: of 30 million characters at most, so it stops growing there


def costs(folder: Path, pairs: int, context: SpawnContext | ForkServerContext = SPAWN) -> tuple[Cost, Cost]:
    """Of a first run, and of one that finds all prepared."""
    corpus = write_corpus(folder / f"{pairs}.tsv", pairs)
    first, following = (cost(corpus, folder / f"{run}-{pairs}", context) for run in ("first", "next"))
    return first, following


@pytest.mark.soak
def test_a_million_pairs_are_trained_on_in_little_memory(tmp_path: Path) -> None:
    first_of_few, following_of_few = costs(tmp_path, 10_000)
    first, following = costs(tmp_path, 1_000_000)
    print(f"ten thousand pairs: {first_of_few}, then {following_of_few}")
    print(f"a million pairs: {first}, then {following}")
    assert first.computing < 100 * first_of_few.computing  # time grows with the pairs, memory does not
    assert first.own - first_of_few.own < VOCABULARY
    assert following.own - following_of_few.own < 200e6  # 200 bytes a pair; the text itself is longer
    assert first.peak < MOST
    assert first.workers < MOST / 2  # while text is read and cut, when the process that trains is still small
    assert following.peak < MOST / 2
    assert following.computing < first.computing / 5


@pytest.mark.soak
def test_what_is_measured_is_what_a_run_takes(tmp_path: Path) -> None:
    for found in costs(tmp_path, 2000, knowing_torch()):
        assert 0.1e9 < found.own <= found.peak < MOST / 2
        assert found.workers == 0  # so few pairs are prepared in the process itself
        assert found.seconds > 0.01
        assert found.computing > 0.01


def test_the_memory_of_processes_that_were_started_is_counted() -> None:
    command = [sys.executable, "-c", "print(flush=True); input()"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as started:
        assert started.stdout is not None
        started.stdout.readline()  # now it has what a Python has
        assert started.pid in set(children())
        assert resident(started.pid, "VmRSS") > 1e6
        started.communicate(b"\n")
    assert started.pid not in set(children())
    assert resident(started.pid, "VmRSS") == 0


def test_a_process_that_is_just_being_started_is_not_counted() -> None:
    """Forked and nothing else yet, as every process is for a moment: it has all the memory of this one."""
    hear, say = os.pipe()
    process = os.fork()
    if not process:
        os.read(hear, 1)
        os._exit(0)
    try:
        assert resident(process, "VmRSS") > 1e6
        assert process not in set(children())
    finally:
        os.write(say, b"x")
        os.waitpid(process, 0)
        os.close(hear)
        os.close(say)
