"""Models in a browser: a click on a point of a family opens that member on the same sentence."""

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visit

POINTS = ".st-key-family_ours .scatterlayer .points path.point"


@pytest.mark.parametrize("width", [390, pytest.param(1280, marks=pytest.mark.soak)])
def test_a_click_on_a_point_opens_that_member_on_the_same_sentence(visit: Callable[..., Visit], width: int) -> None:
    one = visit(width=width).open("models", family="heads", sentence="the cat sat", details="true")
    page = one.page
    page.locator(POINTS).nth(2).click(force=True)  # it does not ship
    one.settle()
    assert "checkpoint=" not in page.url
    page.locator(POINTS).first.click(force=True)
    page.wait_for_url("**checkpoint=family-heads-1**")
    one.settle()
    one.says("the cat sat")
    expect(page.get_by_role("button", name="Is open: 1")).to_be_disabled()
    card = page.locator(".cards [aria-pressed=true]")
    expect(card).to_contain_text("one head, is open")
    plot, below = page.locator(".st-key-family_ours").bounding_box(), card.bounding_box()
    assert plot["x"] - 1 <= below["x"] <= plot["x"] + plot["width"]
    assert plot["y"] + plot["height"] <= below["y"] <= plot["y"] + plot["height"] + 80, "it is not below its plot"
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.soak
def test_a_click_on_a_card_opens_that_checkpoint_on_the_same_sentence_and_back_leads_to_the_one_before(
    visit: Callable[..., Visit],
) -> None:
    one = visit().open("models", sentence="the cat sat")
    one.page.locator(".cards").get_by_role("button", name="de-en").click()
    one.page.wait_for_url("**checkpoint=de-en**")
    one.settle()
    one.says("the cat sat")
    open_card = one.page.locator(".cards [aria-pressed=true]")
    expect(open_card).to_contain_text("de-en, is open")
    one.page.go_back()
    expect(open_card).to_contain_text("en-de, is open")
    one.settle()
    one.says("the cat sat")
    assert "checkpoint=" not in one.page.url
    one.page.go_forward()
    expect(open_card).to_contain_text("de-en, is open")
