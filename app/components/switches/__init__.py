"""A line of choices with few options each, drawn as one part of the page.

Streamlit has widgets for this, but the browser builds each of them again at every click, whether it has changed or not,
and a page has three or four (tests/benchmarks/app.py shows what a click costs). What is chosen is sent to the page,
which keeps it; nothing is kept here.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from app.components.numbered import listening, received
from app.components.registration import component

_component = component("switches")


@dataclass(frozen=True)
class Options:
    """What can be chosen, and which is chosen now.

    Attributes:
        name: its name in messages of the browser.
        label: the text before it.
        texts: one text for each option.
        chosen: the place of the chosen option, from 0.
        disabled: whether all options are grey and cannot be clicked.
    """

    name: str
    label: str
    texts: Sequence[str]
    chosen: int
    disabled: bool = False


@dataclass(frozen=True)
class Button:
    """The button at the end of the line; `help` appears over it."""

    text: str
    help: str
    disabled: bool = False


def switches(
    line: Sequence[Options],
    button: Button | None,
    *,
    key: str,
    on_choose: Callable[[str, int], None],
    on_press: Callable[[], None] | None = None,
) -> None:
    """Draws the line. `on_choose` gets the name of what was chosen and its place, from 0."""
    counts = {options.name: len(options.texts) for options in line}

    def pressed() -> None:
        if on_press and button and not button.disabled:
            on_press()

    data: dict[str, Any] = {"choices": [asdict(options) for options in line], "received": received(key)}
    if button:
        data["button"] = asdict(button)
    _component(data=data, key=key, on_chosen_change=listening(key, counts, on_choose), on_pressed_change=pressed)
