"""Ctrl-C, SIGTERM and a closed terminal: before the first update the command stops immediately; later it finishes the
update, saves, and says how to continue."""

import signal
import threading
from pathlib import Path
from types import FrameType, TracebackType

from transformer.errors import Stopped
from transformer.training.run_recipe import resume_command


class Interrupt:
    """In its `with` block, SIGINT, SIGTERM and SIGHUP (unless it is ignored, as under nohup) raise Stopped.

    Python handles a signal only when C++ code returns, so the training of a vocabulary is finished first. In another
    thread than the main one it handles no signals, so there the block changes nothing.

    Once `defers` is set, signals only set a flag, which the loop reads (`if interrupt:`). A second SIGINT then stops
    immediately, also while a file is written; the file that was saved before is not changed.

    Args:
        folder: of the run.
        saved: whether a state to resume from exists already.
    """

    def __init__(self, folder: Path, saved: bool) -> None:
        self._folder, self._saved = folder, saved
        self.defers = False
        self.number = 0  # of the signal; 0 if there was none
        self._before: dict[int, object] = {}

    def __enter__(self) -> "Interrupt":
        if threading.current_thread() is not threading.main_thread():
            return self
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            if number == signal.SIGHUP and signal.getsignal(number) is signal.SIG_IGN:
                continue
            self._before[number] = signal.signal(number, self._catch)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)  # type: ignore[arg-type]  # what signal() returned
        if kind is not KeyboardInterrupt:
            return
        if not self.defers:
            begun = "continued; what was saved is unchanged" if self._saved else "started"
            raise Stopped(f"Stopped by {self} before training {begun}. Give the same command again.") from None
        raise Stopped(
            "Stopped immediately by a second Ctrl-C; the run is as it was last saved. To continue: "
            f"{resume_command(self._folder)}"
        ) from None

    def _catch(self, number: int, frame: FrameType | None) -> None:
        self.number = number
        if not self.defers:
            raise KeyboardInterrupt  # no `except Exception` catches it, so it ends the `with` block
        if number == signal.SIGINT:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    def receive(self, number: int) -> None:
        """Takes over the signal that another process of this run received; 0 for none."""
        self.number = self.number or number

    def __bool__(self) -> bool:
        return self.number != 0

    def __str__(self) -> str:
        if self.number == signal.SIGINT:
            return "Ctrl-C"
        return signal.Signals(self.number).name if self else "no signal"
