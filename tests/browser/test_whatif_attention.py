"""What if in a browser: bars of attention are dragged, and the others follow before the server is asked."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visit

Begin = Callable[..., Visit]
SENTENCE = "the cat sat on the mat"
PLACE = {"sentence": SENTENCE, "experiment": "attention", "layer": "2", "head": "3", "t": "4"}


def values(page: Any) -> list[str]:
    return [text.strip() for text in page.locator(".column .value").all_inner_texts()]


@pytest.mark.soak
def test_a_bar_that_is_dragged_takes_from_the_others_and_makes_an_edit_when_it_is_let_go(visit: Begin) -> None:
    one = visit().open("whatif", **PLACE)
    page = one.page
    track = page.locator(".column .track").nth(1)
    track.wait_for()
    one.settle()
    box = track.bounding_box()
    middle = box["x"] + box["width"] / 2
    page.mouse.move(middle, box["y"] + box["height"] - 2)
    page.mouse.down()
    page.mouse.move(middle, box["y"] + box["height"] / 4, steps=4)
    assert values(page)[1] == "75%"
    heights = page.locator(".column .bar").evaluate_all("bars => bars.map(bar => parseFloat(bar.style.height))")
    assert abs(sum(heights) - 100) < 0.01
    assert "edits=" not in page.url  # nothing is sent while it is dragged
    page.mouse.up()
    expect(page.get_by_role("button", name="weights of query 4 set")).to_be_visible()
    one.settle()
    assert "weights%3Dcross.2.3.4." in page.url
    assert values(page)[1] == "75%"
    page.get_by_role("button", name="Reset").click()
    expect(page.get_by_role("button", name="weights of query 4 set")).to_have_count(0)


@pytest.mark.soak
def test_arrow_keys_and_buttons_set_the_row_and_keep_the_focus(visit: Begin) -> None:
    one = visit().open("whatif", **PLACE, edits="weights=cross.2.3.4.1-1")
    page = one.page
    first = page.get_by_role("slider", name="Weight on key 1")
    expect(first).to_have_attribute("aria-valuenow", "100")
    one.settle()
    first.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("PageUp")
    page.keyboard.press("ArrowUp")
    expect(page.get_by_role("slider", name="Weight on key 2")).to_have_attribute("aria-valuenow", "25")
    expect(first).to_have_attribute("aria-valuenow", "75")
    page.wait_for_url("**2-2500**")
    one.settle()
    page.keyboard.press("End")  # the bar has kept the focus
    page.wait_for_url("**4.2-10000**")
    one.settle()
    page.get_by_role("button", name="Uniform").click()
    page.wait_for_url("**1-*.2-*.3-*")
    one.settle()
    page.get_by_role("button", name="All heads of this layer").click()
    expect(page.get_by_role("button", name="All heads of this layer")).to_have_attribute("aria-pressed", "true")
    page.get_by_role("button", name="All weight on this token").click()
    page.wait_for_url("**cross.2.all.4.2-10000**")


@pytest.mark.soak
def test_a_row_is_kept_if_another_layer_is_chosen_right_after_a_key(visit: Begin) -> None:
    one = visit().open("whatif", **PLACE)
    page = one.page
    first = page.get_by_role("slider", name="Weight on key 1")
    first.wait_for()
    one.settle()
    first.focus()
    page.keyboard.press("End")
    page.locator("select[data-name=layer]").evaluate(
        "node => { node.selectedIndex = 0; node.dispatchEvent(new Event('change')); }"
    )
    page.wait_for_url("**weights%3Dcross.2.3.4.1-10000**")
    page.wait_for_timeout(600)  # after which a row would be sent for the other layer
    one.settle()
    assert "weights%3Dcross.1." not in page.url
    assert page.locator("select[data-name=layer]").evaluate("node => node.selectedIndex") == 0


@pytest.mark.soak
def test_a_mask_is_taken_away_and_given_back_with_its_switch(visit: Begin) -> None:
    one = visit().open("whatif", sentence=SENTENCE, experiment="masks")
    page = one.page
    causal = page.get_by_role("radiogroup", name="Causal mask")
    causal.get_by_role("radio", name="off").click()
    expect(page.get_by_text("of its attention is on later tokens")).to_be_visible()
    assert page.locator("svg .outlined rect").count() > 0
    one.settle()
    assert "mask%3Dcausal" in page.url
    causal.get_by_role("radio", name="on").click()
    expect(page.get_by_text("of its attention is on later tokens")).to_be_hidden()
    one.settle()
    assert "edits=" not in page.url
    page.locator("svg.picture .cell").first.click(force=True)  # a click on a cell forbids it
    expect(page.get_by_role("button", name="query 1 may not attend to key 1")).to_be_visible()
    one.settle()
    page.keyboard.press("Enter")  # the matrix has kept the focus
    expect(page.get_by_role("button", name="query 1 may not attend to key 1")).to_have_count(0)
