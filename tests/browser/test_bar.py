"""The bar of what is chosen: at one spot on all pages, in view, and what is chosen on one is chosen on the next."""

import re
from collections.abc import Callable

import pytest

from tests.browser.conftest import Visit, chosen_in
from tests.support.browser_pages import PAGES, is_drawn

Begin = Callable[..., Visit]
WITH_BAR = [name for name in PAGES if name not in ("training", "models")]  # which show many checkpoints, not one
ORDER = ("kind", "stack", "layer", "head", "pick_t", "pick_s", "pick_k")
PLACE = ".st-key-chosen :is(.switches [data-name='{0}'], .st-key-{0})"


def parts(one: Visit) -> list[str]:
    """What the bar has, from left to right and from top to bottom."""
    boxes = {}
    for key in ORDER:
        part = one.page.locator(PLACE.format(key))
        if part.count():
            box = part.bounding_box()
            boxes[key] = (round(box["y"] / 10), box["x"])
    return sorted(boxes, key=boxes.__getitem__)


def place(one: Visit, name: str) -> tuple[float, float, float]:
    """Where the bar of a page stands and how wide it is; its parts are in their order, and all are on the screen."""
    found = parts(one)
    assert found, name
    assert sorted(found, key=ORDER.index) == found, name
    inside = one.page.locator(".st-key-chosen .st-key-choose").evaluate("n => n.scrollWidth <= n.clientWidth + 1")
    assert inside, f"the bar of {name} is wider than the screen"
    box = one.page.locator(".st-key-chosen").bounding_box()
    return box["x"], box["y"], box["width"]


def all_the_same(places: dict[str, tuple[float, float, float]]) -> None:
    first = places[WITH_BAR[0]]
    for name, found in places.items():
        assert found == pytest.approx(first, abs=1.5), name


@pytest.mark.soak
def test_on_a_phone_the_bar_stands_at_the_same_spot_on_every_page_and_its_parts_in_the_same_order(
    visit: Begin,
) -> None:
    one, places = visit(width=390), {}
    for name in WITH_BAR:
        one.open(PAGES[name].path, sentence="the cat sat", kind="decoder", one="true")
        is_drawn(one, name)
        places[name] = place(one, name)
    all_the_same(places)


def test_on_a_walk_through_all_pages_the_bar_stands_still_and_what_is_chosen_stays_chosen(visit: Begin) -> None:
    one, places = visit().open("attention", kind="decoder", layer="1", head="1", one="true"), {}
    one.type("the cat sat")
    is_drawn(one, "attention")
    page = one.page
    for key, number in (("layer", 2), ("head", 3), ("pick_t", 2)):
        page.locator(PLACE.format(key)).get_by_role("radio").nth(number - 1).click()
        one.settle()
    for name in (*WITH_BAR, "training", "models"):
        one.follow(PAGES[name].title)
        is_drawn(one, name)
        one.says("the cat sat")
        if name not in WITH_BAR:
            continue
        places[name] = place(one, name)
        assert chosen_in(page)["head"] == ["3"], name
        found = parts(one)
        assert set(found) & {"layer", "head", "stack"}, name
        for key, number in (("layer", 2), ("head", 3), ("pick_t", 2)):
            if key in found:
                chosen = page.locator(PLACE.format(key)).get_by_role("radio", checked=True)
                said = chosen.get_attribute("aria-label") or chosen.inner_text()
                assert said.startswith(str(number)), (name, key)
    all_the_same(places)


def test_back_in_the_decoder_its_kind_of_attention_is_the_one_that_was_left(visit: Begin) -> None:
    one = visit().open("positions", sentence="the cat sat", kind="decoder")
    is_drawn(one, "positions")
    for stack, kind in (("encoder", "encoder"), ("decoder", "decoder")):
        one.page.locator(PLACE.format("stack")).get_by_role("radio", name=stack).click()
        one.page.wait_for_url(f"**kind={kind}*")


def test_where_the_line_is_too_short_layer_and_head_stay_together(visit: Begin) -> None:
    one = visit(width=1280).open("attention", sentence="the cat sat")
    is_drawn(one, "attention")
    kind, layer, head, button = (
        one.page.locator(f".switches [data-name='{name}']").bounding_box()
        for name in ("kind", "layer", "head", "button")
    )
    assert layer["y"] == head["y"] == button["y"]
    one.page.set_viewport_size({"width": 1000, "height": 800})
    one.settle()
    assert one.page.locator(".switches [data-name='layer']").bounding_box()["y"] > kind["y"] + kind["height"]


@pytest.mark.parametrize("width", [390, pytest.param(1280, marks=pytest.mark.soak)])
def test_the_bar_is_driven_with_the_keyboard_and_keeps_the_focus(visit: Begin, width: int) -> None:
    one = visit(width=width).open("attention", sentence="the cat sat", kind="decoder", layer="1", head="1")
    is_drawn(one, "attention")
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
    one = visit().open("attention", sentence="the cat sat", kind="decoder", layer="1", head="1")
    is_drawn(one, "attention")
    one.page.locator(PLACE.format("head")).get_by_role("radio", checked=True).focus()
    for _ in range(3):
        one.page.keyboard.press("ArrowRight")
    one.page.wait_for_url("**head=4*")
    one.settle()
    assert one.page.locator(f"{PLACE.format('head')} :focus").inner_text() == "4"


def test_a_choice_of_very_many_is_a_list_that_opens(visit: Begin) -> None:
    one = visit().open("attention", sentence="the cat sat", checkpoint="wide", kind="encoder", head="1")
    is_drawn(one, "attention")
    heads = one.page.locator(PLACE.format("head")).get_by_role("combobox", name="Head")
    assert heads.input_value() == "0"
    heads.focus()
    one.page.keyboard.press("ArrowDown")
    one.page.wait_for_url("**head=2*")
    one.settle()
    one.page.keyboard.press("End")  # the list keeps the focus
    one.page.wait_for_url("**head=20*")


def test_the_bar_stays_in_view_and_leaves_a_phone_its_room(visit: Begin) -> None:
    one = visit().open("hand", sentence="the cat sat")
    is_drawn(one, "hand")
    bar, scroll = one.page.locator(".st-key-chosen"), "document.querySelector('[data-testid=stMain]').scrollTo(0, 900)"
    one.page.evaluate(scroll)
    one.page.wait_for_timeout(300)
    box = bar.bounding_box()
    assert 0 <= box["y"] < 60
    assert box["height"] < 220
    bar.locator(".switches [data-name='head'] [role='radio']").nth(1).click()
    one.page.wait_for_url("**head=2*")
    one.page.set_viewport_size({"width": 390, "height": 800})
    one.settle()
    one.page.evaluate(scroll)
    one.page.wait_for_timeout(300)
    assert bar.bounding_box()["y"] < 0
