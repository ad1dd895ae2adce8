"""On a phone: what is behind the buttons of the top, and other tokens on a tap. The pages: test_every_page.py."""

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import PATIENCE, Visit
from tests.support.browser_pages import PAGES, is_drawn
from tests.support.phone import wrong_on_a_phone

Begin = Callable[..., Visit]


def phone(visit: Begin, page: str = "") -> Visit:
    one = visit(width=390, height=844).open(page, sentence="the cat sat on the mat")
    is_drawn(one, page or "translate")
    return one


SLOW = """() => {
    const now = Date.now;
    let late = 0;
    Date.now = () => now() + (late += 100);
}"""  # as on a slow phone: 100 ms have passed whenever a script reads the clock again


def test_examples_pages_and_menu_can_be_read_and_tapped(visit: Begin) -> None:
    """Each is opened by its arrow, which the list's opening replaces; see app/page.css."""
    one = phone(visit)
    expect(one.page.locator("[class*='st-key-pages_of_'] button")).to_contain_text("Pages")
    one.page.evaluate(SLOW)
    opened = one.page.get_by_test_id("stPopoverBody")
    for opener in (".st-key-examples", "[class*='st-key-pages_of_']", ".st-key-menu"):
        button = one.page.locator(opener).get_by_test_id("stPopoverButton")
        button.get_by_test_id("stIconMaterial").last.click(force=True)  # the button answers, not the arrow
        opened.locator(":is(button, a)").first.wait_for(timeout=PATIENCE / 5)
        one.page.wait_for_timeout(500)  # one that closes by itself does so at once
        assert opened.is_visible(), opener
        assert wrong_on_a_phone(one.page, "[data-testid=stPopoverBody]") == {"cut": [], "small": []}, opener
        button.press("Escape")
        opened.wait_for(state="detached")


@pytest.mark.soak
def test_a_tap_on_a_written_token_shows_others_and_one_of_them_is_written_instead(visit: Begin) -> None:
    one = phone(visit)
    one.page.locator(".token.writes").nth(1).click()
    others = one.page.locator(".instead button")
    others.first.wait_for()
    assert wrong_on_a_phone(one.page) == {"cut": [], "small": []}
    chosen = others.first.locator(".other").text_content()
    with one.running():
        others.first.click()
    expect(one.page.locator(".token.writes").nth(1)).to_have_text(chosen)


@pytest.mark.soak
def test_what_was_probable_at_the_least_certain_token_is_shown_before_a_tap(visit: Begin) -> None:
    one = phone(visit)
    page = one.page
    page.locator(".instead").get_by_text("Least certain:").wait_for()
    parts = page.locator(".probability .number").all_inner_texts()
    shares = [float(text.strip("<>%")) for text in parts]
    token = page.locator(".token.writes").nth(shares.index(min(shares))).inner_text()
    assert f"“{token}”" in page.locator(".instead span").first.inner_text()
    assert all(text.endswith("%") for text in page.locator(".instead .number").all_inner_texts())
    assert wrong_on_a_phone(page) == {"cut": [], "small": []}
    page.locator(".token.writes").nth(1).click()
    page.locator(".instead").get_by_text("Instead of").wait_for()


def test_the_sides_of_self_attention_are_both_named_after_the_source(visit: Begin) -> None:
    one = visit(width=390, height=844).open(sentence="the cat sat on the mat", kind="encoder")
    is_drawn(one, "translate")
    labels = one.page.locator(".arcs .label")
    expect(labels).to_have_text(["English: what is attended to", "English: what attends"])


@pytest.mark.soak
@pytest.mark.parametrize("page", ["translate", "multihead", "hand"])
def test_twenty_heads_scroll_sideways(visit: Begin, page: str) -> None:
    one = visit(width=390, height=844).open(PAGES[page].path, sentence="the cat", checkpoint="wide")
    is_drawn(one, page)
    assert wrong_on_a_phone(one.page) == {"cut": [], "small": []}


@pytest.mark.soak
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
