"""What if, "Shuffle the words", in a browser: a bar makes a swap and takes it back, and the keys do the same."""

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visit, chosen_in

Begin = Callable[..., Visit]
PLACE = {"sentence": "the cat sat on the mat", "experiment": "order"}
CHANGES = ".frame .words .column:nth-child({}) .change"


@pytest.mark.soak
def test_a_word_and_a_bar_make_a_swap_and_the_bar_takes_it_back(visit: Begin) -> None:
    one = visit().open("whatif", **PLACE)
    page = one.page
    page.locator(".frame .words .word").first.wait_for()
    one.settle()
    assert "edits" not in chosen_in(page)  # what is shown first is an example
    page.locator(".frame .words .word").nth(1).click()
    expect(page.get_by_text("Swap the position of “cat” with that of …")).to_be_visible()
    bar = page.locator(CHANGES.format(5))
    with one.running():
        bar.click()
    assert chosen_in(page)["edits"] == ["positions=swap.2.5"]
    expect(bar).to_have_attribute("aria-pressed", "true")
    expect(page.get_by_role("button", name="Positions 2 and 5 swapped")).to_be_visible()
    bar.focus()
    page.keyboard.press("ArrowLeft")
    with one.running():
        page.keyboard.press("Enter")  # another one takes its place
    assert chosen_in(page)["edits"] == ["positions=swap.2.4"]
    with one.running():
        page.locator(CHANGES.format(4)).click()
    assert "edits" not in chosen_in(page)


@pytest.mark.soak
def test_positions_are_removed_with_one_click(visit: Begin) -> None:
    one = visit().open("whatif", **PLACE)
    with one.running():
        one.page.get_by_role("button", name="No positions in the encoder").click()
    assert chosen_in(one.page)["edits"] == ["positions=off"]
    expect(one.page.get_by_text("Without positions the decoder gets the same vectors")).to_be_visible()


@pytest.mark.soak
def test_both_translations_are_below_the_table_of_a_long_sentence(visit: Begin) -> None:
    long = " ".join(["the cat sat on the mat"] * 5)
    page = visit(height=720).open("whatif", experiment="order", sentence=long).page
    table, outcome = (page.locator(f".st-key-whatif_order_{name}") for name in ("comparison", "outcome"))
    outcome.locator(".token, span").first.wait_for()
    box = table.locator("table").bounding_box()
    assert outcome.bounding_box()["y"] >= box["y"] + box["height"]
