"""The line of controls: what is chosen on one page is chosen on the next, and keys choose as clicks do."""

import re
from collections.abc import Callable

import pytest

from tests.browser.conftest import Visit, chosen_in
from tests.support.browser_pages import PAGES, is_drawn

Begin = Callable[..., Visit]
PLACE = ".st-key-chosen :is(.switches [data-name='{0}'], .st-key-{0})"


def test_what_is_chosen_on_one_page_is_chosen_on_the_next(visit: Begin) -> None:
    one = visit().open("hand", kind="decoder", layer="1", head="1", sentence="the cat sat")
    is_drawn(one, "hand")
    for key, number in (("layer", 2), ("head", 3)):
        one.page.locator(PLACE.format(key)).get_by_role("radio").nth(number - 1).click()
        one.settle()
    for name in ("multihead", "scaling", "decoding", "hand"):
        one.follow(PAGES[name].title)
        is_drawn(one, name)
        assert (chosen_in(one.page)["layer"], chosen_in(one.page)["head"]) == (["2"], ["3"]), name
    for key, number in (("layer", 2), ("head", 3)):
        chosen = one.page.locator(PLACE.format(key)).get_by_role("radio", checked=True)
        assert chosen.inner_text() == str(number)


@pytest.mark.soak
@pytest.mark.parametrize("width", [390, 1280])
def test_the_bar_is_driven_with_the_keyboard_and_keeps_the_focus(visit: Begin, width: int) -> None:
    one = visit(width=width).open("hand", sentence="the cat sat", kind="decoder", layer="1", head="1")
    is_drawn(one, "hand")
    page = one.page
    heads = page.locator(PLACE.format("head"))
    heads.get_by_role("radio", checked=True).focus()
    for key, head in (("ArrowRight", 2), ("End", 4), ("ArrowRight", 4), ("ArrowLeft", 3), ("Home", 1)):
        page.keyboard.press(key)
        page.wait_for_url(re.compile(rf"head={head}(&|$)"))
        one.settle()
        assert heads.get_by_role("radio", checked=True).inner_text() == str(head), key
        assert heads.locator(":focus").inner_text() == str(head), key
    page.keyboard.press("Tab")
    assert page.locator(".switches [data-name='button'] button:focus").count() == 1
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Shift+Tab")
    assert page.locator(f"{PLACE.format('layer')} :focus").inner_text() == "1"


def test_keys_pressed_in_a_hurry_all_count(visit: Begin) -> None:
    one = visit().open("hand", sentence="the cat sat", kind="decoder", layer="1", head="1")
    is_drawn(one, "hand")
    one.page.locator(PLACE.format("head")).get_by_role("radio", checked=True).focus()
    for _ in range(3):
        one.page.keyboard.press("ArrowRight")
    one.page.wait_for_url("**head=4*")
    one.settle()
    assert one.page.locator(f"{PLACE.format('head')} :focus").inner_text() == "4"


@pytest.mark.soak
def test_a_choice_of_very_many_is_a_list_that_opens(visit: Begin) -> None:
    one = visit().open("hand", sentence="the cat sat", checkpoint="wide", kind="encoder", head="1")
    is_drawn(one, "hand")
    heads = one.page.locator(PLACE.format("head")).get_by_role("combobox", name="Head")
    assert heads.input_value() == "0"
    heads.focus()
    one.page.keyboard.press("ArrowDown")
    one.page.wait_for_url("**head=2*")
    one.settle()
    one.page.keyboard.press("End")  # the list keeps the focus
    one.page.wait_for_url("**head=20*")
