"""Buttons for a choice among a few names."""

from collections.abc import Callable, Mapping
from typing import TypeVar, cast

import streamlit as st

from app.state import late_reports
from app.state.choice import Choice

Name = TypeVar("Name", bound=str)


def buttons(
    choice: Choice[str],
    names: Mapping[Name, str],
    label: str,
    *,
    opening: Name | None = None,
    says: bool = True,
    help: str | None = None,
    then: Callable[[], None] | None = None,
) -> Name:
    """Draws a button for each name, and returns what is chosen.

    Args:
        names: what is written on the buttons, by the value of the choice.
        then: is called when another name is chosen.
        says: whether the label is visible; a screen reader reads it in any case.
    """

    def changed() -> None:
        if not late_reports.restored(choice) and then:
            then()

    choice.open(opening, names)
    st.segmented_control(
        label, list(names), format_func=names.__getitem__, required=True, key=choice.key, persist_state="session",
        help=help, on_change=changed, label_visibility="visible" if says else "collapsed",
    )  # fmt: skip
    return cast(Name, choice.value)
