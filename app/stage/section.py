"""A part of the screen that is drawn again by itself when something is chosen in it."""

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec

import streamlit as st

from app.languages import language, speaking
from app.state import address
from app.state.choice import Choice
from app.state.choices import PLACE, SCENE

Arguments = ParamSpec("Arguments")


def redrawn(draw: Callable[[], None], depends_on: tuple[Choice, ...], *, run_every: float | None = None) -> None:
    """Draws a fragment. If a choice that it depends on is changed in it, the whole screen is drawn again.

    Args:
        run_every: seconds after which it is drawn again without a click.
    """

    def made_of() -> tuple[object, ...]:
        return tuple(choice.value if choice.is_chosen else None for choice in depends_on)

    before = made_of()

    def body() -> None:
        if made_of() != before:
            st.rerun()
        with speaking(language()):  # see main.py
            draw()
        address.write()
        if made_of() != before:
            st.rerun()

    st.fragment(body, run_every=run_every)()


def section(draw: Callable[Arguments, None]) -> Callable[Arguments, None]:
    """Makes a function draw a section of a page. A control in the section draws only the section again, unless it
    changes the scene, the head or the chosen token."""

    @wraps(draw)
    def drawn(*args: Arguments.args, **kwargs: Arguments.kwargs) -> None:
        redrawn(lambda: draw(*args, **kwargs), (*SCENE, *PLACE))

    return drawn
