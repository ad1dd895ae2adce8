"""What if, "Switch parts off": the switches show a click at once, work by keys, and the translation follows."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visit, chosen_in
from tests.support.browser_pages import is_drawn

TOUCH = """
    const asked = window.matchMedia.bind(window);
    window.matchMedia = (query) => (query === '(hover: none)' ? { matches: true } : asked(query));
"""
Begin = Callable[..., Visit]
AT_ONCE = """() => {
    const roots = [...document.querySelectorAll('*')].map(node => node.shadowRoot).filter(Boolean);
    const cell = roots.map(root => root.querySelector('.boards .cell')).find(Boolean);
    cell.click();
    return cell.getAttribute('aria-checked');
}"""

# Notes in each frame where the translations below the switches are.
NOTES = """() => {
    window.places = [];
    const look = () => {
        const place = document.querySelector('.st-key-whatif_outcome')?.getBoundingClientRect().y;
        if (place && window.places.at(-1) !== place) window.places.push(place);
        requestAnimationFrame(look);
    };
    look();
}"""


def test_a_head_is_switched_off_at_once_and_on_again_and_the_keys_do_the_same(visit: Begin) -> None:
    one = visit().open("whatif", sentence="the cat sat on the mat", ranked="false")
    is_drawn(one, "whatif")
    with one.running():
        assert one.page.evaluate(AT_ONCE) == "false"  # before the server can have answered
    assert chosen_in(one.page)["edits"] == ["off=encoder.1.1"]
    first = one.page.locator(".boards .cell").first
    first.focus()
    one.page.keyboard.press("ArrowRight")
    with one.running():
        one.page.keyboard.press("Space")
    assert chosen_in(one.page)["edits"] == ["off=encoder.1.1;off=encoder.1.2"]
    with one.running():
        first.click()
    assert chosen_in(one.page)["edits"] == ["off=encoder.1.2"]
    assert first.get_attribute("aria-checked") == "true"


@pytest.mark.soak
def test_with_shift_a_click_leaves_one_head_of_its_layer(visit: Begin) -> None:
    one = visit().open("whatif", sentence="the cat sat on the mat", ranked="false")
    is_drawn(one, "whatif")
    with one.running():
        one.page.locator(".boards .cell").nth(1).click(modifiers=["Shift"])
    off = chosen_in(one.page)["edits"][0].split(";")
    assert sorted(off) == ["off=encoder.1.1", "off=encoder.1.3", "off=encoder.1.4"]


@pytest.mark.soak
def test_the_first_edit_moves_nothing(visit: Begin) -> None:
    for width in (1280, 390):
        one = visit(width=width).open("whatif", sentence="the cat sat on the mat", ranked="false")
        is_drawn(one, "whatif")
        cell = one.page.locator(".boards .cell").first
        before = cell.bounding_box()
        with one.running():
            cell.click()
        one.page.locator(".st-key-edits_line").get_by_role("button", name="head 1.1 off").wait_for()
        assert cell.bounding_box() == before


@pytest.mark.soak
def test_three_edits_are_named_beside_the_heading_and_a_guess_moves_neither(visit: Begin) -> None:
    edits = "off=cross.2.3;off=encoder.1.2;skip=encoder.1.feed_forward;off=decoder.1.1"
    places = []
    for size in ((1280, 720), (1920, 1080)):
        one = visit(width=size[0], height=size[1]).open("whatif", sentence="xyzzy the", ranked="false", edits=edits)
        is_drawn(one, "whatif")
        page = one.page
        line = page.locator(".st-key-edits_line").bounding_box()
        names = page.locator(".st-key-edit_names")
        expect(names.get_by_role("button")).to_have_count(3)
        expect(names.get_by_role("button").first).to_contain_text("Decoder head 1.1 off")
        box, last = names.bounding_box(), names.get_by_role("button").last.bounding_box()
        assert last["x"] + last["width"] <= box["x"] + box["width"] + 1
        heading = page.locator(".st-key-question").bounding_box()
        guess = page.locator(".st-key-guess_line")
        guess.wait_for()  # random weights guess
        assert abs(line["y"] - heading["y"]) < heading["height"]
        assert line["x"] >= heading["x"] + page.locator(".st-key-question h1 span").first.bounding_box()["width"]
        assert guess.bounding_box()["y"] > page.locator(".st-key-whatif_outcome").bounding_box()["y"]
        places.append(heading["y"])
    assert places[0] < places[1]


@pytest.mark.soak
def test_one_button_switches_all_feed_forward_networks_off_and_on_again(visit: Begin) -> None:
    one = visit().open("whatif", sentence="the cat sat on the mat", ranked="false")
    is_drawn(one, "whatif")
    button = one.page.get_by_role("button", name="All feed-forward networks")
    expect(button).to_contain_text("all")
    with one.running():
        button.click()
    off = chosen_in(one.page)["edits"][0].split(";")
    assert len(off) == 5  # two layers and three
    assert all(text.startswith("skip=") and text.endswith(".feed_forward") for text in off)
    with one.running():
        button.click()
    assert "edits" not in chosen_in(one.page)


@pytest.mark.soak
def test_a_finger_is_told_to_tap_and_nothing_about_a_key(visit: Begin) -> None:
    one = visit(width=390, height=844)
    one.before_its_scripts(TOUCH)
    one.open("whatif", sentence="the cat sat on the mat", ranked="false")
    is_drawn(one, "whatif")
    description = one.page.locator(".st-key-head_switches .description")
    expect(description).to_contain_text("Tap a head to switch it off")
    with one.running():
        one.page.locator(".boards .cell").first.click()
    expect(description).to_contain_text("head 1: off")
    expect(description).not_to_contain_text("Shift")


@pytest.mark.soak
def test_a_button_of_the_page_switches_a_head_and_the_line_is_about_that_one(visit: Begin) -> None:
    one = visit().open("whatif", sentence="the cat sat on the mat", edits="off=decoder.3.4")
    is_drawn(one, "whatif")
    button = one.page.get_by_role("button", name=re.compile(r"^Switch .* off$")).first
    button.wait_for()
    cells = one.page.locator(".boards .cell")
    description = one.page.locator(".st-key-head_switches .description")
    before = cells.evaluate_all("cells => cells.map(cell => cell.getAttribute('aria-checked'))")
    cells.first.hover()
    expect(description).to_contain_text("layer 1 head 1: on.")
    with one.running():
        button.click()
    after = cells.evaluate_all("cells => cells.map(cell => cell.getAttribute('aria-checked'))")
    [switched] = [i for i, (old, new) in enumerate(zip(before, after, strict=True)) if old != new]
    name = (cells.nth(switched).get_attribute("aria-label") or "").split(",")[0]
    expect(description).to_contain_text(f"{name}: off.")


@pytest.mark.soak
def test_what_the_head_that_was_switched_last_attends_to_is_said_beside_it(visit: Begin) -> None:
    one = visit().open("whatif", sentence="the cat sat on the mat", ranked="false", edits="off=cross.1.2")
    is_drawn(one, "whatif")
    description = one.page.locator(".st-key-head_switches .description")
    expect(description).to_contain_text("Encoder-decoder layer 1 head 2: off.")
    expect(description).to_contain_text(re.compile("weight is on special tokens|largest weight of a row is"))
    with one.running():
        one.page.locator(".boards .cell").first.click()
    expect(description).to_contain_text("Encoder self-attention layer 1 head 1: off.")
    expect(description).to_contain_text(re.compile("of its weight is on|largest weight of a row is"))


@pytest.mark.soak
def test_a_finger_leaves_one_head_of_its_layer_and_a_whole_layer_is_one_edit(visit: Begin) -> None:
    one = visit(width=390, height=844).open("whatif", sentence="the cat sat on the mat", ranked="false")
    is_drawn(one, "whatif")
    mode = one.page.get_by_role("button", name="A tap leaves only that head of its layer on")
    assert mode.bounding_box()["height"] >= 44
    mode.click()
    with one.running():
        one.page.locator(".boards .cell").nth(1).click()
    off = chosen_in(one.page)["edits"][0].split(";")
    assert sorted(off) == ["off=encoder.1.1", "off=encoder.1.3", "off=encoder.1.4"]
    mode.click()
    with one.running():
        one.page.locator(".boards .cell").nth(1).click()
    assert chosen_in(one.page)["edits"] == ["off=encoder.1.all"]


@pytest.mark.soak
def test_nothing_moves_when_another_sentence_is_ranked(visit: Begin) -> None:
    for width, height in ((1280, 720), (390, 844)):
        one = visit(width=width, height=height).open("whatif", sentence="the cat sat on the mat", ranked="true")
        is_drawn(one, "whatif")
        suggestion = one.page.locator(".st-key-text_strongest")
        suggestion.wait_for()
        one.page.evaluate(NOTES)
        one.type("a dog sat on the mat")
        one.settle()
        one.page.wait_for_function("() => !document.querySelector('[data-testid=\"stProgress\"]')")
        suggestion.wait_for()
        places = one.page.evaluate("window.places")
        assert max(places) - min(places) < 4, places


@pytest.mark.soak
def test_the_head_that_was_chosen_elsewhere_is_outlined_and_its_name_says_so(visit: Begin) -> None:
    one = visit().open("whatif", sentence="the cat", ranked="false", kind="decoder", layer="2", head="3")
    is_drawn(one, "whatif")
    [chosen] = one.page.locator(".boards .cell").evaluate_all(
        "cells => cells.filter(cell => getComputedStyle(cell).outlineColor === 'rgb(255, 154, 31)')"
        ".map(cell => cell.getAttribute('aria-label'))"
    )
    assert chosen == "Decoder self-attention, layer 2, head 3, the chosen head"
    expect(one.page.locator(".st-key-head_switches .description")).to_contain_text(
        "Outlined in orange: the chosen head"
    )
    one.page.locator(".cell.chosen").hover()
    expect(one.page.locator(".st-key-head_switches .description")).to_contain_text(f"{chosen}: on.")
