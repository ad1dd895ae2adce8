"""Records what a page draws, as values, for a file that shows the page without the app.

While `recording` lasts, components of this thread are not sent to a browser. Their data, the tables of the pictures and
the sentences below them are kept.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from app.figures.tables import Table


@dataclass(frozen=True)
class Drawn:
    """A component that a page drew.

    Attributes:
        name: the name of its folder.
        key: the key of the component on its page.
        html, css: its HTML and CSS; css is None if the component has no shadow root, and so no CSS of its own.
        data: what its script receives.
    """

    name: str
    key: str
    html: str
    css: str | None = field(repr=False)
    data: Any = field(repr=False)


@dataclass
class Recording:
    """What was drawn, in the order of drawing. `tables`: (key of the picture, its name, function for its table)."""

    drawn: list[Drawn] = field(default_factory=list)
    tables: list[tuple[str, str, Callable[[], Table]]] = field(default_factory=list)
    texts_below: list[str] = field(default_factory=list)


class NoResult:
    """The result of a recorded component. Nobody clicks in it, so each value that it could report is None."""

    def __getattr__(self, name: str) -> None:
        return None


_current: ContextVar[Recording | None] = ContextVar("recording", default=None)


def current() -> Recording | None:
    """The recording of this thread, or None if the page is drawn for a visitor."""
    return _current.get()


@contextmanager
def recording() -> Iterator[Recording]:
    """Records what is drawn inside the block."""
    made = Recording()
    token = _current.set(made)
    try:
        yield made
    finally:
        _current.reset(token)
