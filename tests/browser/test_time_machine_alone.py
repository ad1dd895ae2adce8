"""The time machine on an empty page: what it says about the snapshot that is shown."""

import base64
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import expect

from tests.support.component_alone import draw, mount

HEAD = {"title": "Cross attention", "about": "", "reads": "Rows: what all read", "rows": ["a"], "columns": ["b"]}
DATA: dict[str, Any] = {
    "runs": ["toy"], "run": "toy", "subject": ["toy", ""], "continued": False, "problem": "", "share": "", "alt": "",
    "color": "#a00", "at": -1, "model": "", "news": "", "head": {**HEAD, "color": "#a0a"},
}  # fmt: skip


def row(update: int, weight: float) -> dict[str, Any]:
    """A row of a snapshot whose head has one weight."""
    weights = base64.b64encode(np.array([65535 * weight]).astype("<u2").tobytes()).decode()
    words = {"words": [["x", False]], "share": 0.5, "probability": "50%", "loss": "0.7"}
    return {"update": str(update), "number": update, "weights": weights} | words


@pytest.fixture
def page(browser: Any) -> Any:
    page = browser.new_page()
    mount(page, "time_machine")
    yield page
    page.close()


def test_the_first_model_of_a_run_that_began_with_a_checkpoint_is_not_said_to_be_untrained(page: Any) -> None:
    for continued, model, words in (
        (False, "", "The untrained model writes"),
        (True, "", "Before this training it writes"),
        (True, "toy", "Before this training toy writes"),
    ):
        draw(page, DATA | {"rows": [row(0, 0.2)], "continued": continued, "model": model})
        expect(page.locator(".when")).to_have_text(words)


def test_the_weight_below_the_pointer_is_that_of_the_snapshot_that_is_shown(page: Any) -> None:
    rows = [row(0, 0.25), row(3, 0.75)]
    draw(page, DATA | {"rows": rows})
    pointed = page.locator(".pointed")
    expect(pointed).to_have_text("Rows: what all read")
    page.locator(".head-map .cell").hover()
    expect(pointed).to_have_text("“a” to “b”: 0.75")
    page.get_by_role("slider", name="Snapshot").press("Home")
    expect(pointed).to_have_text("“a” to “b”: 0.25")
    draw(page, DATA | {"rows": [*rows, row(6, 1.0)], "news": "In training"})  # as every 1.5 s during a training
    expect(pointed).to_have_text("“a” to “b”: 0.25")
