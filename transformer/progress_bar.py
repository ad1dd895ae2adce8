"""A progress bar with the rate and the time left, on stderr, and only on a terminal."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn


@contextmanager
def show_progress(unit: str, show: bool = True) -> Iterator[Callable[[int, int | None], None]]:
    """Yields `advance(done, total)`. If stderr is not a terminal, or `show` is false, nothing is shown."""
    console = Console(stderr=True)
    columns = (BarColumn(), MofNCompleteColumn(), TextColumn(unit), TextColumn("{task.fields[rate]}"))
    times = (TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn())
    off = not (show and console.is_terminal)
    with Progress(*columns, *times, console=console, disable=off, redirect_stdout=False, transient=True) as bar:
        task = bar.add_task("", total=None, rate="")

        def advance(done: int, total: int | None) -> None:
            speed = bar.tasks[0].speed
            bar.update(task, completed=done, total=total, rate=f"{speed:.1f} a second" if speed else "")

        yield advance
