"""The same work on many portions, in several processes, the results in the order of the portions.

    for result in in_order(make, portions, processes): ...         as `map(make(), portions)`, only sooner

Neither portions nor results pile up: at most a few portions a process are under way. With one process nothing is
started, and where processes cannot be had, or one dies, the work goes on in this one.

Processes are started afresh (spawn): the threads of torch and of sentencepiece do not survive a fork. They import what
`make` needs and no torch, so each takes some 50 MB. Ctrl-C is for the process that started them; it ends them, and
should it be killed, they notice and end themselves.
"""

import logging
import multiprocessing
import os
import signal
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from threading import Thread
from typing import Any, TypeVar

log = logging.getLogger(__name__)
P = TypeVar("P")  # a portion
R = TypeVar("R")  # its result

AHEAD = 2  # portions under way for each process, so that none waits for the next
_work: Callable[[Any], Any]  # in a worker process: what `make` made


def processes_for(portions: int, wanted: int) -> int:
    """How many processes so much work is worth: `wanted` (0: one a core), but one if starting them takes longer."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(wanted or cores, portions // 10))


def in_order(make: Callable[[], Callable[[P], R]], portions: Iterable[P], processes: int) -> Generator[R, None, None]:
    """`make()(portion)` for each portion, in order.

    Args:
        make: called once in each process; it and the portions must pickle (a class or a `functools.partial`).
    """
    if processes == 1:
        yield from map(make(), portions)
        return
    rest, waiting = iter(portions), deque[P]()
    try:
        yield from _in_processes(make, rest, waiting, processes)
    except BrokenProcessPool as error:
        log.warning("Working with several processes failed: going on in one, which takes longer. (%s)", error)
        work = make()
        yield from map(work, waiting)
        yield from map(work, rest)


def _in_processes(
    make: Callable[[], Callable[[P], R]], portions: Iterator[P], waiting: deque[P], processes: int
) -> Generator[R, None, None]:
    """What `waiting` holds in the end are portions that were drawn and have no result yet."""
    others = set(multiprocessing.active_children())
    pool = ProcessPoolExecutor(processes, multiprocessing.get_context("spawn"), _begin, (make,))
    results = deque[Future[R]]()
    try:
        for portion in portions:
            waiting.append(portion)
            results.append(_submit(pool, portion))
            if len(waiting) == AHEAD * processes:
                yield _take(results, waiting)
        while waiting:
            yield _take(results, waiting)
    finally:
        # Trap: without this, who stops a run waits until all portions under way are done
        # (test_stopping_ends_the_processes_at_once).
        if waiting:
            # Trap: the pool would wait for the rest of a result that a process was handing over when it ended, as long
            # as anybody could still write it, and for a portion to be taken, as long as anybody could still read it;
            # and this process could do both (test_stopping_ends_also_while_much_is_handed_over).
            pool._result_queue._writer.close()  # type: ignore[attr-defined]
            pool._call_queue._reader.close()  # type: ignore[attr-defined]
            for process in set(multiprocessing.active_children()) - others:
                process.terminate()
        pool.shutdown(cancel_futures=True)


def _submit(pool: ProcessPoolExecutor, portion: P) -> Future[Any]:
    # Trap: a process that is just being started would answer Ctrl-C with a traceback; it inherits that SIGINT is held
    # back (test_ctrl_c_while_processes_begin_is_for_the_one_that_starts_them).
    held_back = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        return pool.submit(_apply, portion)
    except OSError as error:  # no process can be started
        raise BrokenProcessPool(str(error)) from error
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, held_back)


def _take(results: deque[Future[R]], waiting: deque[P]) -> R:
    result = results[0].result()
    results.popleft()
    waiting.popleft()
    return result


def _begin(make: Callable[[], Callable[[Any], Any]]) -> None:
    """The first thing in a worker process."""
    global _work
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all processes of a terminal
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    Thread(target=_end_with_parent, daemon=True).start()
    _work = make()


def _apply(portion: Any) -> Any:
    return _work(portion)


def _end_with_parent() -> None:
    # Trap: a queue of multiprocessing does not end when the process at its other end is killed
    # (test_processes_end_when_the_one_that_started_them_is_killed).
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)
