"""How many passes of models run at once. What a thread computes in advance takes none of the places, so that no visitor
waits for it."""

from threading import BoundedSemaphore, local

_thread = local()


def work_in_advance() -> None:
    """What this thread computes from now on, nobody waits for yet. Give it a low priority."""
    _thread.in_advance = True


class Gate:
    """As a context: a pass of a model runs in it. It waits while as many run as there are places."""

    def __init__(self, places: int):
        self._places = BoundedSemaphore(places)

    def __enter__(self) -> None:
        if not getattr(_thread, "in_advance", False):
            self._places.acquire()

    def __exit__(self, *reason: object) -> None:
        if not getattr(_thread, "in_advance", False):
            self._places.release()
