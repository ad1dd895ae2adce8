"""A queue is worked off: what is not trained yet is trained, what is trained is scored, one after the other.

Everything that a queue remembers lies in the folders of its runs: a result there, and the run is done; a state of
training, and it goes on from there bit for bit. So the queue may be stopped at any moment and started again, on this
machine or another, and two processes may work on one queue: neither touches a run that the other is training.
"""

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from transformer.errors import Busy, CorpusError, HeadlightError, Stopped
from transformer.files.atomic_write import lock
from transformer.recipe import check_files
from transformer.studies.measure_member import measure, read_result
from transformer.studies.training_queue import Queue, Training
from transformer.training import train
from transformer.training.device import choose_device

log = logging.getLogger(__name__)


def is_done(training: Training, runs: Path) -> bool:
    """Whether it has a result. Raises HeadlightError where `read_result` does."""
    return read_result(training, runs / training.folder) is not None


def work_off(queue: Queue, trainings: Sequence[Training], runs: Path, device: str = "auto") -> None:
    """Trains and scores all that is not done yet, in this order. A run that fails is told and does not keep the others.

    Args:
        trainings: of this queue. runs: the folder of all runs; each gets a folder there.

    Raises:
        Stopped: the queue was told to stop; everything is saved.
        HeadlightError: at least one run failed, after all others have been made.
    """
    failed = []
    for number, training in enumerate(trainings, start=1):
        try:
            with claimed(training, runs):
                if not is_done(training, runs):
                    log.info("%d of %d: %s", number, len(trainings), training.folder)
                    train_and_measure(queue, training, runs, device)
        except Busy:
            log.info("%s: another process is at it.", training.folder)
        except (Stopped, KeyboardInterrupt) as error:
            told = f"{error}".partition(";")[0].partition(".")[0]
            where = f"{training.folder} ({told})" if told else training.folder
            raise Stopped(
                f"The queue stopped at {where}. Everything is saved: give the same command again to go on."
            ) from None
        except (HeadlightError, OSError) as error:  # OSError: a full disk, say
            log.warning("%s failed: %s", training.folder, error)
            failed.append(training.folder)
    if failed:
        raise HeadlightError(f"Runs without a result: {', '.join(failed)}. What failed stands above, for each of them.")


@contextmanager
def claimed(training: Training, runs: Path) -> Iterator[None]:
    """No other process that works on this queue trains or scores this run meanwhile. Raises Busy if one does."""
    runs.mkdir(parents=True, exist_ok=True)
    with (runs / f".{training.folder}.lock").open("w") as file:
        try:
            lock(file)
        except BlockingIOError:
            raise Busy(f"Another process works on {training.folder}. Wait for it.") from None
        yield


def train_and_measure(queue: Queue, training: Training, runs: Path, device: str) -> None:
    """One run, from where it stands to its result."""
    folder = runs / training.folder
    check_files(training.recipe)
    if not queue.scored_on.is_file():  # before hours of training, not after
        raise CorpusError(
            f"The text on which runs are scored, {queue.scored_on}, is missing. Name its folder by --data."
        )
    chosen = train(training.recipe, folder, resume=folder.is_dir(), device=device)
    result = measure(training, folder, chosen, queue.scored_on, choose_device(device))
    log.info(
        "%s: perplexity %.2f, BLEU %.1f greedy and %.1f with beam 4",
        training.folder,
        result["perplexity"],
        result["greedy"]["bleu"],
        result["beam_4"]["bleu"],
    )
