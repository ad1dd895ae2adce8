"""The page Training in tests: opened with its details, and what it says."""

from collections.abc import Callable
from typing import Any

from streamlit.testing.v1 import AppTest

from tests.support.drawn import components, open_view

Open = Callable[..., AppTest]


def opened(**address: str) -> AppTest:
    """The page with its details open."""
    return open_view("training", details="true", **address)


def machine(app: AppTest) -> dict[str, Any]:
    """What the time machine in the browser is given."""
    (found,) = components(app, "time_machine")
    return found
