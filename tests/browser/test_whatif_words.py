"""What if, "Change a word", in a browser: a click leaves a word out, and what is typed stands in its place."""

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visit, chosen_in

Begin = Callable[..., Visit]


@pytest.mark.parametrize("size", [(1280, 720), (390, 844)])
def test_a_word_is_left_out_by_a_click_and_replaced_by_what_is_typed(visit: Begin, size: tuple[int, int]) -> None:
    one = visit(width=size[0], height=size[1]).open("whatif", experiment="words", sentence="the old cat sat on the mat")
    page, picture = one.page, one.page.locator(".st-key-picture_words")
    picture.locator("svg .cell").first.wait_for()
    one.settle()
    with one.running():
        picture.locator("svg .cell").nth(2).click(force=True)
    assert chosen_in(page)["changed_word"] == ["3"]
    expect(picture.locator("svg .gone")).to_have_text("cat")
    expect(page.get_by_role("list", name="Without “cat”")).to_be_visible()
    typed = page.get_by_role("textbox", name="Another word")
    typed.fill("</script>")
    with one.running():
        typed.press("Enter")
    expect(page.get_by_role("list", name="“</script>” for “cat”")).to_be_visible()
    with one.running():
        picture.locator("svg .cell").nth(1).click(force=True)
    expect(typed).to_have_value("")
    expect(page.get_by_role("list", name="Without “old”")).to_be_visible()
    assert page.evaluate("document.querySelector('[data-testid=stMain]').scrollWidth <= innerWidth")
