"""A choice of the visitor that outlives a click: its name, where it is written, and what resets it.

The value is kept in the session under the choice's key, which is also the key of its widget, if it has one. All choices
are listed in `app.state.choices`.
"""

from collections.abc import Callable, Container
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar

import streamlit as st

T = TypeVar("T")
Event = Literal["text", "sentence", "search", "checkpoint"]
Written = Literal["address", "link", "session"]


@dataclass(frozen=True)
class Choice(Generic[T]):
    """One choice.

    Attributes:
        key: its name in the session and in the address, and the key of its widget.
        default: its value until something is chosen. A page may open it with another value, see `open`.
        read: text in the address -> value. Raises ValueError for an invalid text.
        write: value -> text.
        written: "address": in the address of the page. "link": private, so only in a link that the visitor copies.
            "session": only in the session.
        page: the page in whose address it is written; None: every page.
        varies: its opening value depends on the sentence, the checkpoint and the page. So a chosen value is written
            into the address even if it equals the opening value of this page.
        reset_by: events after which it has its default again.
    """

    key: str
    default: T
    read: Callable[[str], T]
    write: Callable[[T], str] = str
    written: Written = "address"
    page: str | None = None
    varies: bool = False
    reset_by: tuple[Event, ...] = ()

    @property
    def _opening(self) -> str:
        return f"{self.key} opening"  # the session key of its last opening value

    @property
    def _explicit(self) -> str:
        return f"{self.key} chosen"  # the session key that exists after `choose` or `mark_as_chosen`

    @property
    def _differs(self) -> str:
        return f"{self.key} differs"  # the session key of `differs_from_opening`

    @property
    def value(self) -> T:
        """What is chosen, or the default."""
        found: T = st.session_state.get(self.key, self.default)
        return found

    @property
    def is_chosen(self) -> bool:
        """Whether it was chosen, by the visitor or by a link. A widget that shows its opening value is not a choice."""
        state = st.session_state
        if self.key not in state:
            return False
        opened = self._opening in state and state[self.key] == state[self._opening]
        return not opened or self._explicit in state

    @property
    def equals_opening(self) -> bool:
        """Whether the value equals the last opening value, or the default if it was never opened."""
        return bool(self.value == st.session_state.get(self._opening, self.default))

    @property
    def differs_from_opening(self) -> bool:
        """Whether nothing is chosen, but `open` has kept a value that a new visitor would not see."""
        return not self.is_chosen and bool(st.session_state.get(self._differs))

    def open(self, opening: T | None = None, allowed: Container[Any] | None = None, *, sticky: bool = False) -> T:
        """Returns the chosen value, or `opening` if nothing is chosen, and stores it in the session.

        Call this before its widget is drawn.

        A value that is not `allowed` counts as not chosen: another checkpoint may have fewer layers, and somebody may
        have edited the address. If nothing is chosen, the value changes whenever `opening` changes, unless it
        is `sticky`: a new sentence shows the same head.
        """
        state, first = st.session_state, self.default if opening is None else opening
        keeps = sticky and self.key in state and not self.is_chosen and (allowed is None or state[self.key] in allowed)
        value = state[self.key] if keeps else first
        state[self._differs] = value != first
        if not self.is_chosen or (allowed is not None and state[self.key] not in allowed):
            state.pop(self._explicit, None)
            if self.key not in state or state[self.key] != value:  # setting it deletes what is being typed
                state[self.key] = value
        state[self._opening] = value
        found: T = state[self.key]
        return found

    def choose(self, value: T) -> None:
        """Sets the value as if the visitor had chosen it."""
        st.session_state[self.key] = value
        self.mark_as_chosen()

    def mark_as_chosen(self) -> None:
        """Marks the present value as chosen by the visitor, even if it equals the opening value."""
        st.session_state[self._explicit] = True

    def forget(self) -> None:
        """Removes the value: nothing is chosen any more."""
        for key in (self.key, self._opening, self._explicit, self._differs):
            st.session_state.pop(key, None)


@dataclass(frozen=True)
class Between:
    """The numbers from `least` to `most`."""

    least: float
    most: float

    def __contains__(self, value: object) -> bool:
        return isinstance(value, int | float) and self.least <= value <= self.most
