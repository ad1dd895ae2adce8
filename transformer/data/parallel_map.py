"""A map over many portions in several processes, with the results in the order of the portions.

    for result in in_order(make, portions, processes): ...         as `map(make(), portions)`, but faster

At most a few portions per process are in memory. If `processes` is 1, none is started. If processes cannot be
started, or one dies, the work continues in the calling process.

Each process has its own pipe, to which a thread sends one portion after another. A process that dies therefore cannot
leave shared data incomplete or a lock held. Its pipe closes, and the thread notices that.
(`concurrent.futures.ProcessPoolExecutor` has one queue for all processes. If a process dies while it uses the queue,
the others may wait for ever.)

Processes are spawned, because the threads of torch and of sentencepiece do not survive a fork. They import what `make`
needs and not torch, so each takes about 50 MB. Only the parent process handles Ctrl-C; it ends the others. They end
themselves if the parent is killed.
"""

import logging
import multiprocessing
import os
import signal
from _thread import start_new_thread
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import suppress
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from queue import SimpleQueue
from threading import Thread
from typing import Any, TypeVar

log = logging.getLogger(__name__)
P = TypeVar("P")  # a portion
R = TypeVar("R")  # its result

_Answer = tuple[Any, Exception | None]  # a result, or an error
_Task = tuple[Any, SimpleQueue[_Answer]]  # a portion, and the queue for its answer

PREFETCH = 2  # portions sent or queued per process, so that no process waits for its next portion
_spawn = multiprocessing.get_context("spawn")


class _ProcessEnded(Exception):
    """A process ended before its work was done, or none could be started."""


def processes_for(portions: int, wanted: int) -> int:
    """How many processes to use: `wanted` (0: one per core), but only as many as have at least ten portions each,
    because starting more would take longer than the work."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(wanted or cores, portions // 10))


def in_order(make: Callable[[], Callable[[P], R]], portions: Iterable[P], processes: int) -> Generator[R, None, None]:
    """`make()(portion)` for each portion, in order.

    Args:
        make: called once in each process. It and the portions are pickled, so it must be a class or a
            `functools.partial`.
    """
    if processes == 1:
        yield from map(make(), portions)
        return
    rest, waiting = iter(portions), deque[P]()
    try:
        yield from _in_processes(make, rest, waiting, processes)
    except _ProcessEnded as error:
        log.warning("Working with several processes failed: continuing in one, which takes longer. (%s)", error)
        work = make()
        yield from map(work, waiting)
        yield from map(work, rest)


def _in_processes(
    make: Callable[[], Callable[[P], R]], portions: Iterator[P], waiting: deque[P], processes: int
) -> Generator[R, None, None]:
    """Yields the results. At the end `waiting` has the portions that were taken from `portions` and have no result yet,
    because a process ended."""
    # Trap: the exception of a signal may be raised at any line. If Python code holds a lock at that line, the lock may
    # never be released. `concurrent.futures` and `Thread` have such locks, a SimpleQueue and a bare thread do not
    # (test_a_signal_at_any_line_ends_the_work).
    started, tasks = list[BaseProcess](), SimpleQueue[_Task | None]()
    results = deque[SimpleQueue[_Answer]]()
    try:
        for _ in range(processes):
            process, pipe = _start(make)
            started.append(process)
            start_new_thread(_send_portions, (tasks, pipe))
        for portion in portions:
            waiting.append(portion)
            results.append(SimpleQueue())
            tasks.put((portion, results[-1]))
            if len(waiting) == PREFETCH * processes:
                yield _take(results, waiting)
        while waiting:
            yield _take(results, waiting)
    finally:
        # Trap: without this, stopping a run would wait until all portions are done
        # (test_stopping_ends_the_processes_at_once).
        for process in started:
            process.terminate()
            tasks.put(None)
        for process in started:
            process.join()


def _start(make: Callable[[], Callable[[Any], Any]]) -> tuple[BaseProcess, Connection]:
    """A running process, and the parent's end of its pipe."""
    # Trap: a process that is being started would print a traceback at Ctrl-C, so it inherits a blocked SIGINT
    # (test_ctrl_c_while_processes_start_is_handled_by_the_parent_only). Python starts its resource tracker with the
    # first process, and then unblocks SIGINT: so the tracker is started before SIGINT is blocked.
    resource_tracker.ensure_running()
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        ours, theirs = _spawn.Pipe()
        process = _spawn.Process(target=_serve, args=(make, theirs), daemon=True)
        process.start()
    except OSError as error:
        raise _ProcessEnded(f"No process can be started: {error}") from error
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
    theirs.close()  # so that the pipe closes with the process
    return process, ours


def _send_portions(tasks: SimpleQueue[_Task | None], pipe: Connection) -> None:
    """In a thread of the parent: sends one portion after another to a process, and puts its answers into their
    queues."""
    while (task := tasks.get()) is not None:
        portion, answer = task
        try:
            pipe.send(portion)
            answer.put(pipe.recv())
        except (EOFError, OSError):
            answer.put((None, _ProcessEnded("a process ended before its work was done")))
        except Exception as error:  # a portion that cannot be pickled
            answer.put((None, error))


def _take(results: deque[SimpleQueue[_Answer]], waiting: deque[P]) -> Any:
    result, error = results[0].get()
    if error is not None:
        raise error
    results.popleft()
    waiting.popleft()
    return result


def _serve(make: Callable[[], Callable[[Any], Any]], pipe: Connection) -> None:
    """The main function of a worker process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all processes of a terminal; the parent handles it
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    Thread(target=_end_with_parent, daemon=True).start()
    work = make()
    with suppress(EOFError, OSError):  # the parent was killed: end silently
        while True:
            portion = pipe.recv()
            answer: _Answer
            try:
                answer = work(portion), None
            except Exception as error:  # reported by the parent
                answer = None, error
            pipe.send(answer)


def _end_with_parent() -> None:
    # Trap: a process does not read its pipe while it works, so it would not notice that the parent has ended
    # (test_processes_end_when_the_parent_is_killed).
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)
