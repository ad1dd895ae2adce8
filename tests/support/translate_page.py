"""The Translate page in tests: opened with its details, and what it says and draws."""

from collections.abc import Callable
from functools import partial

import pytest
from streamlit.testing.v1 import AppTest

from tests.support.drawn import components

Open = Callable[..., AppTest]


@pytest.fixture
def open_translate(open_app: Open) -> Open:
    """Opens the app with the details open, where the tables and the further pictures are."""
    return partial(open_app, details="true")


def words(app: AppTest) -> str:
    """The texts, notes, warnings and errors of the page."""
    return " ".join(element.value for kind in (app.text, app.info, app.warning, app.error) for element in kind)


def head_of(app: AppTest) -> tuple[str, int, int]:
    """Kind, layer and head that the canvas shows, the latter two from 1."""
    chosen = components(app, "canvas_channel")[0]["chosen"]
    return chosen["kind"], chosen["layer"] + 1, chosen["head"] + 1
