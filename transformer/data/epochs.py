"""Prepares the next epoch while the current one is trained on, so that a GPU never waits for it.

Segmenting a large text again takes minutes, and sorting its pairs into batches seconds. On a CPU this work would use
the cores that train, so there each epoch is prepared when it begins.
"""

from collections.abc import Callable
from concurrent.futures import Future
from threading import Thread
from typing import Generic, TypeVar

Epoch = TypeVar("Epoch")


class Epochs(Generic[Epoch]):
    """Epochs by number.

    Args:
        make: prepares an epoch. It is never called twice at the same time.
    """

    def __init__(self, make: Callable[[int], Epoch]):
        self._make = make
        self._next: tuple[int, Future[Epoch]] | None = None

    def take(self, number: int) -> Epoch:
        """The epoch of this number, made now unless it was prepared. An error in making it is raised here."""
        prepared, self._next = self._next, None
        if prepared is not None and prepared[0] == number:
            return prepared[1].result()
        return self._make(number)

    def prepare(self, number: int) -> None:
        """Makes the epoch of this number in a thread. The thread is a daemon: a run that stops does not wait for it."""
        made: Future[Epoch] = Future()
        self._next = number, made
        Thread(target=self._fill, args=(number, made), name="next epoch", daemon=True).start()

    def _fill(self, number: int, made: "Future[Epoch]") -> None:
        try:
            made.set_result(self._make(number))
        except BaseException as error:  # raised where the epoch is taken
            made.set_exception(error)
