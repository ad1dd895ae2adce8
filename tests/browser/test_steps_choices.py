"""Step by step in a browser: the switch of the detail, and what a box of the map opens."""

import re
from collections.abc import Callable

import pytest

from tests.browser.conftest import Visit
from tests.support.browser_pages import is_drawn

Begin = Callable[..., Visit]
SENTENCE = "the cat sat on the mat"


@pytest.mark.soak
def test_the_switch_of_the_detail_works_after_going_on_and_back(visit: Begin) -> None:
    one = visit().open("steps", sentence=SENTENCE)
    is_drawn(one, "steps")
    page, chosen = one.page, one.page.locator(".walk .choice [aria-checked='true']")
    walk = [
        (".player button:last-child", "token_ids"),
        (".player button:last-child", "encoder.embedding.*"),
        (".player button:first-child", "token_ids"),
        (".player button:first-child", "characters"),
    ]
    for (button, at), detail in zip(walk, ["Every step", "First lecture"] * 2, strict=True):
        page.locator(f".walk {button}").click()
        page.wait_for_url(f"**at={at}*")
        one.settle()  # the server has answered, and nothing was drawn again
        page.get_by_role("radio", name=detail).click()
        assert chosen.inner_text() == detail
        page.wait_for_url("**detail=exam*" if detail == "Every step" else re.compile(r"^((?!detail=).)*$"))
        one.settle()
        assert chosen.inner_text() == detail


WIDTHS = "buttons => buttons.map((button) => button.getBoundingClientRect().width)"


@pytest.mark.soak
def test_a_button_is_as_wide_when_it_is_chosen(visit: Begin) -> None:
    one = visit().open("steps", sentence=SENTENCE)
    is_drawn(one, "steps")
    buttons = one.page.locator(".walk .choice button")
    before = buttons.evaluate_all(WIDTHS)
    assert len(before) == 2
    one.page.get_by_role("radio", name="Every step").click()
    one.page.wait_for_url("**detail=exam*")
    assert buttons.evaluate_all(WIDTHS) == before


@pytest.mark.soak
def test_what_the_box_of_the_feed_forward_network_opens_says_its_parameters_and_fits(visit: Begin) -> None:
    one = visit(height=720)
    for language in ("en", "de", "fr"):
        one.open("steps", sentence=SENTENCE, lang=language)
        is_drawn(one, "steps")
        one.page.locator("svg.map .box[data-station='encoder.layers.*.feed_forward.hidden']").click()
        one.page.wait_for_url("**at=encoder.layers.0.feed_forward.activated*")
        paragraph = one.page.locator(".walk p")
        assert "W₁ (" in paragraph.inner_text()
        assert paragraph.evaluate("text => text.scrollHeight <= text.clientHeight"), paragraph.inner_text()
        one.settle()
