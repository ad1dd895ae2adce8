"""Runs a queue: trains and scores all members that have no result yet, one after the other.

The state of a queue is stored in the folders of its runs: a run with a result is done, and a run with a saved training
state is resumed. So the queue may be stopped at any time and started again, on this machine or another. Two processes
may run one queue: neither changes a run that the other is training.
"""

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from transformer.device import choose_device
from transformer.errors import Busy, CorpusError, HeadlightError, Stopped, out_of_memory
from transformer.files.atomic_write import lock
from transformer.recipe_files import check_files
from transformer.studies.measure_member import measure, read_result
from transformer.studies.training_queue import Queue, Training
from transformer.training import train

log = logging.getLogger(__name__)


def is_done(training: Training, runs: Path) -> bool:
    """Whether this run has a result. Raises HeadlightError as `read_result` does."""
    return read_result(training, runs / training.folder) is not None


def run_queue(queue: Queue, trainings: Sequence[Training], runs: Path, device: str = "auto") -> None:
    """Trains and scores all runs without a result, in this order. A run that fails is reported, and the others
    continue.

    Args:
        trainings: of this queue. runs: the folder of all runs; each has a folder in it.

    Raises:
        Stopped: a signal stopped the queue; the message says what is saved.
        HeadlightError: at least one run failed; all others have been run.
    """
    failed = []
    for number, training in enumerate(trainings, start=1):
        try:
            with claimed(training, runs):
                if not is_done(training, runs):
                    log.info("%d of %d: %s", number, len(trainings), training.folder)
                    train_and_measure(queue, training, runs, device)
        except Busy:
            log.info("%s: another process is training it.", training.folder)
        except (Stopped, KeyboardInterrupt) as error:
            stopped = f"{error}".partition(".")[0] or "everything is saved"
            raise Stopped(
                f"The queue stopped at {training.folder} ({stopped}). To continue, give the same command again."
            ) from None
        except (HeadlightError, OSError) as error:  # OSError: a full disk, for example
            log.warning("%s failed: %s", training.folder, error)
            failed.append(training.folder)
        except (RuntimeError, MemoryError) as error:
            if not (message := out_of_memory(error)):
                raise
            log.warning("%s failed: %s", training.folder, message)
            failed.append(training.folder)
    if failed:
        raise HeadlightError(f"Runs without a result: {', '.join(failed)}. Their errors are listed above.")


@contextmanager
def claimed(training: Training, runs: Path) -> Iterator[None]:
    """Inside, no other process of this queue trains or scores this run. Raises Busy if one does already."""
    runs.mkdir(parents=True, exist_ok=True)
    with (runs / f".{training.folder}.lock").open("w") as file:
        try:
            lock(file)
        except BlockingIOError:
            raise Busy(f"Another process works on {training.folder}. Wait for it.") from None
        yield


def train_and_measure(queue: Queue, training: Training, runs: Path, device: str) -> None:
    """Starts or resumes one run, and scores it."""
    folder = runs / training.folder
    check_files(training.recipe, starts=not folder.is_dir())
    if queue.scored_on and not queue.scored_on.is_file():  # before hours of training, not after
        raise CorpusError(
            f"The text on which runs are scored, {queue.scored_on}, is missing. Name its folder by --data."
        )
    chosen = train(training.recipe, folder, resume=folder.is_dir(), device=device)
    result = measure(training, folder, chosen, queue.scored_on, choose_device(device))
    log.info(
        "%s: perplexity %.2f, BLEU %.1f greedy and %.1f with beam 4, %.1f%% of the outputs exactly right",
        training.folder,
        result["perplexity"],
        result["greedy"]["bleu"],
        result["beam_4"]["bleu"],
        100 * result["beam_4"]["exact_match"],
    )
