"""Ctrl-C, SIGTERM and a terminal that goes away: before the first update stop at once; then finish the update, save,
say how to go on."""

import signal
from types import FrameType, TracebackType

from transformer.errors import Stopped


class Interrupt:
    """Between `with` and its end, SIGINT, SIGTERM and SIGHUP (unless it is ignored, as under nohup) end in Stopped.

    Python hears of a signal only when C++ returns to it, so learning a vocabulary is finished first.

    Once somebody `asks` for them (`if interrupt:`), they only set a flag instead. A second SIGINT then stops at once,
    also in the middle of saving, which leaves what was saved before.

    Args:
        saved: whether there is a state to go on from already.
    """

    def __init__(self, saved: bool = False) -> None:
        self._saved = saved
        self.asks = False
        self.number = 0  # of the signal; 0 if there was none
        self._before: dict[int, object] = {}

    def __enter__(self) -> "Interrupt":
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            if number == signal.SIGHUP and signal.getsignal(number) is signal.SIG_IGN:
                continue
            self._before[number] = signal.signal(number, self._catch)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)  # type: ignore[arg-type]  # what signal() gave, it takes back
        if kind is not KeyboardInterrupt:
            return
        if not self.asks:
            begun = "went on; all that was saved is as it was" if self._saved else "began; nothing is saved yet"
            raise Stopped(f"Stopped by {self} before training {begun}. Give the same command again.") from None
        raise Stopped(
            "Stopped at once by a second Ctrl-C; the run is as it was last saved. To go on, give the same command with "
            "--resume."
        ) from None

    def _catch(self, number: int, frame: FrameType | None) -> None:
        self.number = number
        if not self.asks:
            raise KeyboardInterrupt  # through everything that catches errors, to the end of the `with`
        if number == signal.SIGINT:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    def hear(self, number: int) -> None:
        """The signal that another process of this run was told to stop by; 0 for none."""
        self.number = self.number or number

    def __bool__(self) -> bool:
        return self.number != 0

    def __str__(self) -> str:
        return signal.Signals(self.number).name if self else "no signal"
