"""The page Training: which runs are compared with the one on the page."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from app import components
from app.library.snapshots import OWNER
from tests.support.drawn import chart
from tests.support.pages import choose
from tests.support.training_page import opened


@pytest.fixture
def three(finished_run: Path, runs: Path, open_app: Callable[..., AppTest]) -> Path:
    """The folder of three runs that were started in the browser."""
    for name in ("first", "second", "third"):
        shutil.copytree(finished_run, runs / name)
        (runs / name / OWNER).touch()
    return runs


def compared(app: AppTest) -> list[str]:
    """The runs whose speed is drawn, that of the page first."""
    assert not app.exception
    return [line["name"] for line in chart(app, "Speed")["data"]]


def test_a_run_that_is_renamed_is_still_compared(three: Path) -> None:
    app = opened(run="second")
    app.button(key="rename_run").click().run()
    choose(app, run="first", compare=["second", "third"]).run()
    app.text_input(key="new_name_of_run").set_value("a, b").run()
    app.button(key="do_rename").click().run()
    assert compared(app.run()) == ["first", "a, b", "third"]
    assert app.query_params["compare"] == "a, b/third"


def test_a_compared_run_that_is_chosen_is_compared_with_the_one_before(
    three: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clicked: list[str] = []
    draw = components.time_machine

    def clicked_and_drawn(*data: Any, on_run: Callable[[str], None], **others: Any) -> None:
        if clicked:
            on_run(clicked.pop())
        draw(*data, on_run=on_run, **others)

    monkeypatch.setattr(components, "time_machine", clicked_and_drawn)
    app = opened(run="first", compare="second/third")
    assert compared(app) == ["first", "second", "third"]
    for chosen in ("second", "first"):
        clicked.append(chosen)
        other = {"second": "first", "first": "second"}[chosen]
        assert compared(app.run()) == [chosen, other, "third"]
