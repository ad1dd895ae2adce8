"""What if, "Change a word", in a browser: a click leaves a word out, and a typed word replaces it."""

from collections.abc import Callable
from itertools import pairwise

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visit, chosen_in

Begin = Callable[..., Visit]


@pytest.mark.soak
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


@pytest.mark.soak
def test_the_name_that_is_pointed_at_covers_no_other_name(visit: Begin) -> None:
    sentence = " ".join(["the old cat sat on the mat"] * 4)
    one = visit().open("whatif", experiment="words", sentence=sentence, all_words="true")
    picture = one.page.locator(".st-key-picture_words")
    picture.locator("svg .cell").first.wait_for()
    one.settle()
    for place in (30, 61, 92):
        picture.locator("svg .cell").nth(place).hover(force=True)
        expect(picture.locator("svg .name.near")).to_have_count(2)
        rows = [box.bounding_box() for box in picture.locator("svg [data-row]:visible").all()]
        tops = sorted(box["y"] + box["height"] / 2 for box in rows if box)
        assert len(tops) > 3
        assert min(b - a for a, b in pairwise(tops)) > 12, place
