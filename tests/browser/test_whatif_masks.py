"""What if, "Take a mask away": without the padding mask there are two sentences in one batch, and keys move in both
pictures."""

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visit, chosen_in

Begin = Callable[..., Visit]


@pytest.mark.soak
def test_the_part_opens_without_the_causal_mask_which_comes_back_with_another_part(visit: Begin) -> None:
    one = visit().open("whatif", sentence="the cat sat on the mat")
    page = one.page
    with one.running():
        page.get_by_text("Take a mask away").click()
    off = page.locator(".switches [data-name='causal'] button").nth(1)
    expect(off).to_have_attribute("aria-checked", "true")
    assert chosen_in(page)["edits"] == ["mask=causal"]
    with one.running():
        page.locator(".switches [data-name='causal'] button").first.click()
    assert "edits" not in chosen_in(page)
    with one.running():
        off.click()
    with one.running():
        page.get_by_text("Move the attention").click()
    expect(page.locator(".st-key-weight_bars")).to_be_visible()
    assert "edits" not in chosen_in(page)


def test_the_door_of_the_page_masks_takes_the_padding_mask_away_and_one_click_brings_it_back(visit: Begin) -> None:
    one = visit().open("masks", sentence="the cat")
    page = one.page
    with one.running():
        page.get_by_text("Take the padding mask away").click()
    matrices = page.locator(".matrices svg")
    expect(page.locator("svg .leak")).to_have_count(1)
    expect(page.locator(".legend")).to_contain_text("weight on padding")
    with one.running():
        page.locator(".switches [data-name='padding'] button").first.click()
    expect(page.locator("svg .leak")).to_have_count(0)
    expect(matrices).to_have_count(2)


@pytest.mark.soak
def test_names_of_narrow_columns_do_not_collide(visit: Begin) -> None:
    long = " ".join(["the cat sat on the mat"] * 3)
    one = visit().open("whatif", experiment="masks", sentence=long, padded_with="the cat", edits="mask=padding")
    names = one.page.locator(".matrices svg").first.locator("[data-column]:not(.spare)")
    names.first.wait_for()
    apart, size = names.evaluate_all(
        """nodes => {
            const at = nodes.map(node => node.getAttribute('transform').match(/-?[0-9.]+/g).map(Number));
            const gaps = at.slice(1).map(([x], i) => x - at[i][0]);
            return [Math.min(...gaps) * Math.sin(-at[0][2] * Math.PI / 180), parseFloat(nodes[0].style.fontSize)];
        }"""
    )
    assert apart >= size


@pytest.mark.soak
def test_the_padding_mask_is_taken_away_and_the_leak_is_outlined_and_keys_move_in_both_pictures(visit: Begin) -> None:
    one = visit().open("whatif", experiment="masks", sentence="the cat sat on the mat", padded_with="the cat")
    page = one.page
    page.locator("svg.picture").first.wait_for()
    with one.running():
        page.locator(".switches [data-name='padding'] button").nth(1).click()
    assert chosen_in(page)["edits"] == ["mask=padding"]
    pads = page.locator(".batch .pad")
    pads.first.wait_for()
    assert pads.count() == page.locator(".st-key-padded_batch .line").first.locator(".token").count() - 3
    leak, matrix = page.locator("svg .leak"), page.locator(".matrices svg").last
    assert leak.count() == 1
    assert leak.bounding_box()["width"] < matrix.bounding_box()["width"]
    assert page.locator("svg .forbidden").count() == 1
    status = page.locator(".st-key-padded_batch .status")
    before = status.inner_text()
    page.locator(".matrices svg").first.focus()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowLeft")
    assert status.inner_text() != before
    assert page.locator("svg .pointed").count() == 2
