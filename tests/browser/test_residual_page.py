"""The Residual stream page: a click or keys alone choose the token, and the picture follows at once."""

import re
from collections.abc import Callable

from tests.browser.conftest import Visit
from tests.support.browser_pages import is_drawn

HEADING = """() => [...document.querySelectorAll('*')].find(node => node.shadowRoot?.querySelector('.flow')).shadowRoot
    .querySelector('svg.flow-picture').getAttribute('aria-label')"""
AT_ONCE = """() => {
    const flow = [...document.querySelectorAll('*')].find(node => node.shadowRoot?.querySelector('.flow')).shadowRoot;
    flow.querySelectorAll('.chips')[1].children[1].click();
    return flow.querySelector('svg.flow-picture').getAttribute('aria-label');
}"""


def test_keys_alone_choose_the_token(visit: Callable[..., Visit]) -> None:
    one = visit().open("residual", sentence="the cat sat", stream="encoder", s="1")
    is_drawn(one, "residual")
    page = one.page
    first = page.evaluate(HEADING)
    page.locator(".flow .chips [aria-checked='true']").focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_url(re.compile(r"\bs=2\b"))
    one.settle()
    assert page.evaluate(HEADING) != first
    page.keyboard.press("End")  # the row of tokens keeps the focus
    page.keyboard.press("ArrowRight")  # beyond the end there is nothing
    one.settle()
    assert "</s>" in page.evaluate(HEADING)
    page.locator(".flow .chips").nth(1).get_by_role("radio").first.focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**stream=decoder*")
    one.settle()
    assert "<s>, decoder" in page.evaluate(HEADING)


def test_another_token_is_drawn_before_the_server_hears_of_it(visit: Callable[..., Visit]) -> None:
    one = visit().open("residual", sentence="the cat sat", stream="encoder", s="1")
    is_drawn(one, "residual")
    assert ", decoder" in one.page.evaluate(AT_ONCE)  # one turn of the browser: no answer can have come
    one.page.wait_for_url(re.compile(r"\bt=2\b"))


def test_the_picture_is_in_the_window_and_says_what_a_sub_layer_does(visit: Callable[..., Visit]) -> None:
    one = visit(height=720).open("residual", sentence="the cat sat", stream="decoder", t="2")
    is_drawn(one, "residual")
    box = one.page.locator(".flow").bounding_box()
    assert box["y"] + box["height"] <= 720
    parts = one.page.locator(".flow-picture .part")
    assert parts.count() == 9  # three sub-layers in each of three layers
    parts.nth(4).click()
    assert one.page.locator(".flow .read").inner_text().startswith("Layer 2, encoder-decoder: adds a vector of length")
    one.page.keyboard.press("ArrowDown")
    assert one.page.locator(".flow .read").inner_text().startswith("Layer 2, feed-forward")
