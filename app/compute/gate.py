"""Limits how many passes of models run at once. A thread that computes in advance takes none of the places, so that no
visitor waits for it."""

from threading import BoundedSemaphore, local

_thread = local()


def work_in_advance() -> None:
    """Marks this thread as one that computes in advance what nobody waits for yet. It should have a low priority."""
    _thread.in_advance = True


class Gate:
    """A context in which a pass of a model runs. Entering it waits while all places are taken."""

    def __init__(self, places: int):
        self._places = BoundedSemaphore(places)

    def __enter__(self) -> None:
        if not getattr(_thread, "in_advance", False):
            self._places.acquire()

    def __exit__(self, *reason: object) -> None:
        if not getattr(_thread, "in_advance", False):
            self._places.release()
