"""The Multi-head page: pictures that choose a head, though the buttons for it stand elsewhere."""

import re
from collections.abc import Callable

import pytest

from tests.browser.conftest import Visit
from tests.support.browser_pages import is_drawn


@pytest.mark.parametrize("picture", ["written", "slices"])
def test_a_click_on_a_heads_bar_chooses_it(visit: Callable[..., Visit], picture: str) -> None:
    one = visit().open("multihead", head="4")
    is_drawn(one, "multihead")
    bars = one.page.locator(f".st-key-picture_{picture} .barlayer .point")
    for head in (2, 3):
        bars.nth(head - 1).click(force=True)
        one.page.wait_for_url(re.compile(f"head={head}"))
        one.page.locator(".gtitle", has_text=f"of head {head}:").wait_for()  # the slice that is drawn
        one.settle()
    if picture == "written":
        bars.nth(4).click(force=True)  # the bias is no head
        one.settle()
        assert "head=3" in one.page.url


def test_keys_alone_choose_the_head_and_the_matrix(visit: Callable[..., Visit]) -> None:
    one = visit().open("multihead", layer="1", head="2")
    is_drawn(one, "multihead")
    page = one.page
    page.locator(".switches [data-name='head']").get_by_role("radio", checked=True).focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_url(re.compile("head=3"))
    page.locator(".gtitle", has_text="of head 3:").wait_for()
    one.settle()
    page.locator(".st-key-matrix").get_by_role("radio", checked=True).focus()
    page.keyboard.press("ArrowRight")  # goes there, and space chooses
    page.keyboard.press("Space")
    page.wait_for_url(re.compile("matrix=key"))
    one.settle()
    page.locator(".switches [data-name='layer']").get_by_role("radio", checked=True).focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_url(re.compile("layer=2"))
    one.settle()
    assert "head=3" in page.url
