"""Rows of choices, alone in a browser: a page that was drawn before it received a choice does not undo it."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from app.figures.attention_lines import attention_lines
from app.figures.axes import TokenAxis
from tests.support.component_alone import draw, mount, sent

SWITCHES = {"name": "head", "label": "Head", "texts": ["1", "2", "3", "4", "5"], "disabled": False}
PICKER = {"tokens": ["a", "b", "c", "d", "e"], "label": "Token", "color": "black", "disabled": False}


def data(name: str, chosen: int, received: int) -> dict[str, Any]:
    if name == "switches":
        return {"choices": [SWITCHES | {"chosen": chosen}], "received": received}
    return PICKER | {"chosen": chosen, "received": received}


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    page = browser.new_page()
    yield page
    page.close()


@pytest.mark.parametrize("name", ["switches", "token_picker"])
def test_keys_continue_from_the_newest_choice_and_not_from_a_page_drawn_before_it(page: Any, name: str) -> None:
    def redraw(chosen: int, received: int) -> None:
        draw(page, data(name, chosen, received))

    def marked() -> str:
        return str(page.get_by_role("radio", checked=True).inner_text())

    mount(page, name)
    redraw(0, 0)
    page.get_by_role("radio", checked=True).focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    first, second = (each["number"] for each in sent(page))
    redraw(1, first)  # what was drawn after the first key, and before the second was received
    assert marked() == ("3" if name == "switches" else "c")
    page.keyboard.press("ArrowRight")
    assert [each["index"] for each in sent(page)] == [1, 2, 3]
    redraw(0, sent(page)[-1]["number"])  # all are received, and the page has chosen another one
    assert marked() == ("1" if name == "switches" else "a")
    assert first < second < sent(page)[-1]["number"]
    redraw(4, 0)  # a server that begins again has received nothing; what it says counts
    assert marked() == ("5" if name == "switches" else "e")


def test_a_row_that_was_sent_before_escape_was_heard_is_not_isolated_again(page: Any) -> None:
    axis = TokenAxis("English", "encoder", ("the", "cat"))
    lines = attention_lines(np.full((2, 2), 0.5), axis, axis, title="Head", alt="Lines") | {"reports": True}
    mount(page, "attention_lines")

    def redraw(row: int | None) -> str:
        draw(page, lines | {"row": row})
        return str(token.get_attribute("aria-pressed"))

    token = page.locator('.token[data-side="1"]').nth(1)
    assert redraw(None) == "false"
    token.focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Escape")
    assert [each["side"] for each in sent(page)] == [1, -1]
    assert redraw(1) == "false"  # the answer to Enter
    assert redraw(None) == "false"  # the answer to Escape
    assert redraw(1) == "true"  # the page isolates a row of its own accord
