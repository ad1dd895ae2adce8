"""The page Heads: a head is also chosen by a click on a picture."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visit
from tests.support.browser_pages import is_drawn


@pytest.mark.soak
@pytest.mark.parametrize("picture", ["heads_written", "slices"])
def test_a_click_on_a_heads_bar_chooses_it(visit: Callable[..., Visit], picture: str) -> None:
    one = visit().open("multihead", head="4", details="true")
    one.page.locator(f".st-key-picture_{picture} .barlayer .point").first.wait_for(state="attached")
    bars = one.page.locator(f".st-key-picture_{picture} .barlayer .point")
    for head in (2, 3):
        bars.nth(head - 1).click(force=True)
        one.page.wait_for_url(re.compile(f"head={head}"))
        one.page.locator(".gtitle", has_text=f"of head {head}:").wait_for()  # the slice that is drawn
        one.settle()
    if picture == "heads_written":
        bars.nth(4).click(force=True)  # the bias is no head
        one.settle()
        assert "head=3" in one.page.url


@pytest.mark.soak
def test_keys_alone_choose_the_head_and_the_matrix(visit: Callable[..., Visit]) -> None:
    one = visit().open("multihead", layer="1", head="2", details="true")
    is_drawn(one, "multihead")
    page = one.page
    page.locator(".heads .grid").get_by_role("radio", checked=True).focus()
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


def test_a_card_names_its_number_and_says_of_what_it_is_the_length(visit: Callable[..., Visit]) -> None:
    one = visit(width=1280, height=720).open("multihead", layer="1", t="1")
    is_drawn(one, "multihead")
    card = one.page.locator(".heads .grid").get_by_role("radio").first
    number = card.locator(".name i").inner_text()
    assert re.fullmatch(r"length \d+\.\d\d", number)
    assert card.get_attribute("title").startswith(f"Head 1 writes a vector of {number}; without it")
    one.page.get_by_role("radio", name="Only this head").click()
    assert card.get_attribute("title").startswith(f"Head 1 writes a vector of {number}; with it alone")


@pytest.mark.soak
def test_the_step_and_the_mode_stay_in_the_link(visit: Callable[..., Visit]) -> None:
    one = visit().open("multihead", layer="1", t="1")
    is_drawn(one, "multihead")
    page = one.page
    says = page.locator(".heads .says")
    before = says.inner_text()
    page.locator(".heads .row").get_by_role("radio").nth(0).focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator(".heads .row").get_by_role("radio").nth(1)).to_have_attribute("aria-checked", "true")
    assert says.inner_text() != before
    assert "t=2" in page.url
    one.settle()
    with one.running():
        page.get_by_role("radio", name="Only this head").click()
        expect(says).to_have_text(re.compile("alone"), timeout=1000)
    one.settle()
    assert "heads_left=alone" in page.url
    expect(page.get_by_role("radio", name="Only this head")).to_be_focused()
    page.locator(".heads .grid").get_by_role("radio").nth(2).click()
    page.wait_for_url(re.compile("head=3"))
    one.settle()
    expect(page.locator(".heads .row").get_by_role("radio").nth(1)).to_have_attribute(
        "aria-checked", "true"
    )  # it stays
    page.reload()
    is_drawn(one, "multihead")
    expect(page.get_by_role("radio", name="Only this head")).to_have_attribute("aria-checked", "true")
    expect(page.locator(".heads .row").get_by_role("radio").nth(1)).to_have_attribute("aria-checked", "true")


@pytest.mark.soak
def test_each_head_has_a_map_that_can_be_seen(visit: Callable[..., Visit]) -> None:
    one = visit(width=1280, height=720).open("multihead")
    is_drawn(one, "multihead")
    heights = one.page.locator(".heads .grid .head-map").evaluate_all("maps => maps.map(map => map.clientHeight)")
    assert min(heights, default=0) > 40, heights
