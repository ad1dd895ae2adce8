"""A shuffled sentence alone in a browser: keys reach tokens outside of the frame; an output can move by more than its
length."""

from typing import Any

from playwright.sync_api import expect

from tests.support.component_alone import draw, mount


def test_keys_reach_the_end_of_a_long_sentence_and_a_large_move_is_written_as_it_is(browser: Any) -> None:
    page = browser.new_page()
    page.set_viewport_size({"width": 800, "height": 600})
    mount(page, "word_order")
    count = 40
    bars = [{"title": "How far", "shares": [0.25] * (count - 1) + [1.4]}]
    order = [1, 0, *range(2, count)]
    data = {"tokens": [f"word{i}" for i in range(count)], "order": order, "bars": bars, "alt": "t"}
    draw(page, data | {"color": "black", "faint": "white", "again": True})
    frame = page.locator(".frame")
    page.locator("svg.picture").focus()
    page.keyboard.press("End")
    expect(page.locator(".status")).to_have_text(
        "“word39” stays at position 40; the encoder's output for it moves by 140% of its length."
    )
    box, token = frame.bounding_box(), page.locator(".token.near").last.bounding_box()
    assert box["x"] - 1 <= token["x"] <= box["x"] + box["width"] - token["width"] + 1
    page.keyboard.press("Home")
    assert frame.evaluate("node => node.scrollLeft") < 5
    expect(page.locator(".status")).to_contain_text("“word1” goes from position 2 to 1")
    page.close()
