"""The same work on many portions, in several processes, the results in the order of the portions.

    for result in in_order(make, portions, processes): ...         as `map(make(), portions)`, only sooner

Neither portions nor results pile up: at most a few portions a process are under way. With one process nothing is
started, and where processes cannot be had, or one dies, the work goes on in this one.

Each process has a pipe of its own, at which a thread hands it one portion after the other. So nothing is shared that a
process could leave half written or locked when it ends in the middle of it: its pipe ends with it, and the thread sees
that. (`concurrent.futures.ProcessPoolExecutor` has one queue for all, and then waits for ever.)

Processes are started afresh (spawn): the threads of torch and of sentencepiece do not survive a fork. They import what
`make` needs and no torch, so each takes some 50 MB. Ctrl-C is for the process that started them; it ends them, and
should it be killed, they notice and end themselves.
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

_Answer = tuple[Any, Exception | None]  # a result, or what went wrong
_Task = tuple[Any, SimpleQueue[_Answer]]  # a portion, and where its answer goes

AHEAD = 2  # portions under way for each process, so that none waits for the next
_spawn = multiprocessing.get_context("spawn")


class _ProcessEnded(Exception):
    """A process ended before its work, or none could be started."""


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
    except _ProcessEnded as error:
        log.warning("Working with several processes failed: going on in one, which takes longer. (%s)", error)
        work = make()
        yield from map(work, waiting)
        yield from map(work, rest)


def _in_processes(
    make: Callable[[], Callable[[P], R]], portions: Iterator[P], waiting: deque[P], processes: int
) -> Generator[R, None, None]:
    """What `waiting` holds in the end are portions that were drawn and have no result yet."""
    # Trap: a signal may raise its exception anywhere in here, also while Python code holds a lock, which is then held
    # for ever. `concurrent.futures` and `Thread` have such locks, a SimpleQueue and a bare thread have none
    # (test_a_signal_at_any_line_ends_the_work).
    started, tasks = list[BaseProcess](), SimpleQueue[_Task | None]()
    results = deque[SimpleQueue[_Answer]]()
    try:
        for _ in range(processes):
            process, pipe = _start(make)
            started.append(process)
            start_new_thread(_hand_on, (tasks, pipe))
        for portion in portions:
            waiting.append(portion)
            results.append(SimpleQueue())
            tasks.put((portion, results[-1]))
            if len(waiting) == AHEAD * processes:
                yield _take(results, waiting)
        while waiting:
            yield _take(results, waiting)
    finally:
        # Trap: without this, who stops a run waits until all portions under way are done
        # (test_stopping_ends_the_processes_at_once).
        for process in started:
            process.terminate()
            tasks.put(None)
        for process in started:
            process.join()


def _start(make: Callable[[], Callable[[Any], Any]]) -> tuple[BaseProcess, Connection]:
    """A process at work, and our end of its pipe."""
    # Trap: a process that is just being started would answer Ctrl-C with a traceback; it inherits that SIGINT is held
    # back (test_ctrl_c_while_processes_begin_is_for_the_one_that_starts_them). Python starts a process of its own with
    # the first of ours, and then lets SIGINT through again: so that one comes before.
    resource_tracker.ensure_running()
    held_back = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        ours, theirs = _spawn.Pipe()
        process = _spawn.Process(target=_serve, args=(make, theirs), daemon=True)
        process.start()
    except OSError as error:
        raise _ProcessEnded(f"No process can be started: {error}") from error
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, held_back)
    theirs.close()  # so that the pipe ends with the process
    return process, ours


def _hand_on(tasks: SimpleQueue[_Task | None], pipe: Connection) -> None:
    """In one of our threads: hands one portion after the other to a process, and its answers to whoever asked."""
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
    """All that a worker process does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all processes of a terminal
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    Thread(target=_end_with_parent, daemon=True).start()
    work = make()
    with suppress(EOFError, OSError):  # the one that started it was killed: it ends without a word
        while True:
            portion = pipe.recv()
            answer: _Answer
            try:
                answer = work(portion), None
            except Exception as error:  # for the process that started this one
                answer = None, error
            pipe.send(answer)


def _end_with_parent() -> None:
    # Trap: while it works, a process does not look at its pipe
    # (test_processes_end_when_the_one_that_started_them_is_killed).
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)
