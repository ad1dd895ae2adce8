"""What if, "Patch a vector", in a browser: a click on a cell adds the patch to the model, a second one removes it."""

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visit, chosen_in

Begin = Callable[..., Visit]
SENTENCE, OTHER = "the old cat sat on the big mat", "the old cat sat on the small mat"
PLACE = {"sentence": SENTENCE, "experiment": "patch", "patched_sentence": OTHER}


@pytest.mark.soak
def test_a_cell_is_patched_by_a_click_and_taken_back_by_the_next_with_keys_too(visit: Begin) -> None:
    one = visit().open("whatif", **PLACE)
    cells = one.page.locator(".st-key-picture_patch svg .cell")
    cells.first.wait_for()
    one.settle()
    across = cells.count() // 3  # embedding and two layers
    assert "edits" not in chosen_in(one.page)
    cells.nth(across + 9).hover(force=True)
    expect(one.page.locator(".st-key-picture_patch .status")).to_contain_text("after “Layer 1”: effect")
    with one.running():
        cells.nth(across + 9).click(force=True)
    assert chosen_in(one.page)["edits"][0].startswith("patch=1.10.")
    expect(one.page.get_by_role("button", name="Position 10 patched after encoder layer 1")).to_be_visible()
    one.page.mouse.move(5, 5)
    one.page.keyboard.press("ArrowUp")
    with one.running():
        one.page.keyboard.press("Enter")  # the grid has kept the focus, and only one vector is patched
    assert chosen_in(one.page)["edits"][0].startswith("patch=embedding.10.")
    with one.running():
        one.page.keyboard.press("Enter")
    assert "edits" not in chosen_in(one.page)


@pytest.mark.soak
def test_a_sentence_of_another_length_says_so_and_a_button_takes_one_that_fits(visit: Begin) -> None:
    one = visit(width=390, height=844).open("whatif", **{**PLACE, "patched_sentence": SENTENCE + " </script>"})
    page = one.page
    expect(page.get_by_text("both sentences need as many tokens")).to_be_visible()
    one.settle()
    with one.running():
        page.get_by_role("button", name="Take one that fits").click()
    page.locator(".st-key-picture_patch svg .cell").first.wait_for()
    expect(page.get_by_role("textbox", name="The other sentence")).to_have_value(OTHER)
    assert page.evaluate("document.querySelector('[data-testid=stMain]').scrollWidth <= innerWidth")
