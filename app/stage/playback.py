"""Previous, play, next: a page that shows one step of many, and goes on by itself while it plays."""

import time
from collections.abc import Callable

import streamlit as st

from app.state.choices import PLAYS

SECONDS: dict[str, float] = {}
MOVED = "moved"  # when the last step was taken


def pace(page: str) -> float | None:
    """Seconds until the page shows its next step; None: it does not play."""
    return SECONDS.get(page) if PLAYS.value else None


def moved() -> None:
    """A step was taken, by the visitor or by the page."""
    st.session_state[MOVED] = time.monotonic()


def play_on(page: str, step: int, count: int) -> int:
    """The step to show now, from 0: the next one if the page plays and the time has come. After the last it stops."""
    seconds = pace(page)
    if seconds is None or time.monotonic() - st.session_state.get(MOVED, 0.0) < 0.8 * seconds:
        return step
    moved()
    if step + 1 == count:
        PLAYS.forget()
        return step
    return step + 1


def play_buttons(step: int, count: int, go: Callable[[int], None]) -> None:
    """Previous, play and next, also as keys. `go` chooses a step."""

    def go_to(chosen: int) -> None:
        go(chosen)
        moved()

    def play() -> None:
        PLAYS.choose(not PLAYS.value)
        moved()
        if PLAYS.value and step == count - 1:
            go(0)

    st.button("Previous", shortcut="Left", on_click=go_to, args=(step - 1,), disabled=step == 0, key="previous")
    st.button("Pause" if PLAYS.value else "Play", on_click=play, disabled=count == 1, key="play")
    st.button("Next", shortcut="Right", on_click=go_to, args=(step + 1,), disabled=step == count - 1, key="next")
