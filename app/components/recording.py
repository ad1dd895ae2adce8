"""What a page draws, kept as values while nobody looks at it: for a file that shows the page without the app.

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
        name: of its folder. key: of the component on its page.
        html, css: what it is made of, beside its script; css is None if it is not in a shadow root.
        data: what its script gets.
    """

    name: str
    key: str
    html: str
    css: str | None = field(repr=False)
    data: Any = field(repr=False)


@dataclass
class Recording:
    """What was drawn, in this order. `tables`: (key of the picture, its name, what makes its table)."""

    drawn: list[Drawn] = field(default_factory=list)
    tables: list[tuple[str, str, Callable[[], Table]]] = field(default_factory=list)
    texts_below: list[str] = field(default_factory=list)


class NoResult:
    """The result of a component that nobody can use: whatever it may report, it has not."""

    def __getattr__(self, name: str) -> None:
        return None


_current: ContextVar[Recording | None] = ContextVar("recording", default=None)


def current() -> Recording | None:
    """The recording of this thread; None: a page is drawn for a visitor."""
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
