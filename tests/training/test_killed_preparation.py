"""Text that several processes prepare, some of which are killed: in the end the files are the same.

The process that prepares is killed and started again until it comes to its end, or one of its workers is killed and it
goes on without. Each begins a session of its own, so that those that it has started can be counted.
"""

import os
import random
import signal
import sys
import tempfile
import time
from contextlib import suppress
from multiprocessing.context import ForkServerProcess
from pathlib import Path

import pytest

from tests.support.small_training import corpus_recipe, in_new_process, write_pairs
from tests.training.test_prepared import session_of, with_data
from transformer.config import Recipe
from transformer.data import text_preparation
from transformer.data.toy_tasks import Bounds, toy_pairs
from transformer.data.training_data import TrainingData
from transformer.training.run_folder import Run

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="who still lives is read from /proc")
PAIRS, BLOCK, PORTION = 5_000, 25, 5_000  # the last two: so small that two processes are at work all the time
KILLS = 20


def prepare(recipe: Recipe, run: Path, temporary: Path) -> None:
    """What a run does before its first update, and what it does for its second epoch."""
    os.setsid()
    os.environ["TMPDIR"], tempfile.tempdir = str(temporary), None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("transformer.data.text_files.AT_ONCE", BLOCK)
        patch.setattr(text_preparation, "PORTION", PORTION)
        with Run(run, resume=run.is_dir()):
            data = TrainingData(recipe, run)
            data._epoch(1)


def prepared(run: Path) -> dict[str, bytes]:
    """All files of a run, by their place in it; its lock says which process held it, and is left out."""
    files = [path for path in run.rglob("*") if path.is_file() and path != run / ".lock"]
    return {str(path.relative_to(run)): path.read_bytes() for path in files}


def workers(process: int) -> list[int]:
    """Those that a process has started to prepare text with it."""
    found = []
    for number in session_of(process):
        with suppress(OSError):
            if b"spawn_main" in Path(f"/proc/{number}/cmdline").read_bytes():
                found.append(number)
    return found


def nobody_is_left(process: int) -> bool:
    """Whether all that it has started have ended, soon after it."""
    until = time.monotonic() + 60
    while list(session_of(process)) and time.monotonic() < until:
        time.sleep(0.05)
    return not list(session_of(process))


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> tuple[Recipe, Path, float]:
    """The recipe, the folder that nobody disturbed, and the seconds that it took."""
    folder = tmp_path_factory.mktemp("alone")
    write_pairs(folder / "corpus.tsv", toy_pairs("numbers", 1, PAIRS, Bounds(max_number=999_999_999)))
    recipe = with_data(corpus_recipe(folder), workers=2, max_length=100)
    (folder / "temporary").mkdir()
    began, most = time.monotonic(), 0
    process = in_new_process(prepare, recipe, folder / "run", folder / "temporary")
    while process.is_alive():
        most = max(most, len(workers(process.pid or 0)))
        time.sleep(0.05)
    assert process.exitcode == 0
    assert most == 2
    return recipe, folder / "run", time.monotonic() - began


def struck(process: ForkServerProcess, moment: float, a_worker: bool) -> bool:
    """Kills it, or one of its workers, at this moment or as soon as it has one. False if it ended before."""
    assert process.pid is not None
    victims = list[int]()
    while not victims and process.is_alive():
        time.sleep(0.002)
        if time.monotonic() > moment:
            victims = workers(process.pid) if a_worker else [process.pid]
    if not victims:
        return False
    with suppress(ProcessLookupError):
        os.kill(victims[-1], signal.SIGKILL)
    return True


@pytest.mark.soak
@pytest.mark.parametrize("a_worker", [False, True])
def test_text_prepared_by_processes_that_were_killed_is_what_it_would_have_been(
    a_worker: bool, alone: tuple[Recipe, Path, float], tmp_path: Path
) -> None:
    recipe, undisturbed, usual = alone
    expected, temporary = prepared(undisturbed), tmp_path / "temporary"
    temporary.mkdir()
    rng, kills, number = random.Random(20), 0, 0
    while kills < KILLS:
        run, number = tmp_path / f"run-{number}", number + 1
        while True:
            began, anew = time.monotonic(), not run.exists()
            process = in_new_process(prepare, recipe, run, temporary)
            hit = struck(process, began + rng.uniform(0.0, 1.1 * usual), a_worker)
            process.join(timeout=300)
            assert process.pid is not None
            assert nobody_is_left(process.pid)
            kills += hit if a_worker else process.exitcode == -signal.SIGKILL
            if process.exitcode == 0:
                if anew and not hit:
                    usual = time.monotonic() - began  # other programs make it longer or shorter
                break
            assert process.exitcode == -signal.SIGKILL
            assert not a_worker  # without one the work goes on
        assert prepared(run) == expected
        assert list(temporary.iterdir()) == []
    print(f"{kills} kills, {number} times prepared")
