"""A queue whose runs are finished."""

from pathlib import Path

import pytest

from tests.support.small_study import write_queue
from transformer.studies.queue_file import load_queue
from transformer.studies.run_queue import run_queue


@pytest.fixture(scope="package")
def worked_off(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """(the queue's file, the folder of its runs), all of them done."""
    folder = tmp_path_factory.mktemp("queue")
    file, runs = write_queue(folder), folder / "runs"
    queue = load_queue(file, folder)
    run_queue(queue, queue.trainings, runs, "cpu")
    return file, runs
