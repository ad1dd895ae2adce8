"""On a phone: what is behind the buttons of the top, and other tokens on a tap. The pages: test_pages_fit.py."""

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visit
from tests.support.browser_pages import PAGES, is_drawn
from tests.support.phone import wrong_on_a_phone

Begin = Callable[..., Visit]


def phone(visit: Begin, page: str = "") -> Visit:
    one = visit(width=390, height=844).open(page, sentence="the cat sat on the mat")
    is_drawn(one, page or "translate")
    return one


def test_examples_pages_and_menu_can_be_read_and_tapped(visit: Begin) -> None:
    one = phone(visit)
    for opener in (".st-key-examples button", "[class*='st-key-pages_of_'] button", ".st-key-menu button"):
        one.settle()
        one.page.locator(opener).first.click()
        one.page.locator("[data-testid=stPopoverBody] :is(button, a)").first.wait_for()
        one.page.wait_for_timeout(500)  # it grows
        assert wrong_on_a_phone(one.page, "[data-testid=stPopoverBody]") == {"cut": [], "small": []}, opener
        one.page.keyboard.press("Escape")
        one.page.locator("[data-testid=stPopoverBody]").wait_for(state="detached")


def test_a_tap_on_a_written_token_shows_others_and_one_of_them_is_written_instead(visit: Begin) -> None:
    one = phone(visit)
    one.page.locator(".token.writes").nth(1).click()
    others = one.page.locator(".instead button")
    others.first.wait_for()
    assert wrong_on_a_phone(one.page) == {"cut": [], "small": []}
    chosen = others.first.text_content()
    with one.running():
        others.first.click()
    expect(one.page.locator(".token.writes").nth(1)).to_have_text(chosen)


@pytest.mark.parametrize("page", ["translate", "multihead", "hand"])
def test_twenty_heads_scroll_sideways(visit: Begin, page: str) -> None:
    one = visit(width=390, height=844).open(PAGES[page].path, sentence="the cat", checkpoint="wide")
    is_drawn(one, page)
    assert wrong_on_a_phone(one.page) == {"cut": [], "small": []}


@pytest.mark.parametrize(
    ("page", "chosen", "picture"),
    [
        ("whatif", {"experiment": "masks"}, "svg.picture"),
        ("whatif", {"experiment": "attention"}, ".columns"),
        ("whatif", {"experiment": "patch"}, ".tokens li"),
        ("compare", {"side": "edits", "edits": "off=cross.1.1"}, ".boards .cell"),
        ("decoding", {"t": "6"}, ".row.chosen"),
    ],
)
def test_parts_that_are_not_shown_at_first_fit_too(
    visit: Begin, page: str, chosen: dict[str, str], picture: str
) -> None:
    one = visit(width=390, height=844).open(page, sentence="the cat sat on the mat", **chosen)
    one.page.locator(picture).first.wait_for()
    one.settle()
    assert wrong_on_a_phone(one.page) == {"cut": [], "small": []}
