"""What if, "Switch parts off": the switches show a click at once, work by keys, and the translation follows."""

from collections.abc import Callable

from tests.browser.conftest import Visit, chosen_in
from tests.support.browser_pages import is_drawn

Begin = Callable[..., Visit]
AT_ONCE = """() => {
    const roots = [...document.querySelectorAll('*')].map(node => node.shadowRoot).filter(Boolean);
    const cell = roots.map(root => root.querySelector('.boards .cell')).find(Boolean);
    cell.click();
    return cell.getAttribute('aria-checked');
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


def test_with_shift_a_click_leaves_one_head_of_its_layer(visit: Begin) -> None:
    one = visit().open("whatif", sentence="the cat sat on the mat", ranked="false")
    is_drawn(one, "whatif")
    with one.running():
        one.page.locator(".boards .cell").nth(1).click(modifiers=["Shift"])
    off = chosen_in(one.page)["edits"][0].split(";")
    assert sorted(off) == ["off=encoder.1.1", "off=encoder.1.3", "off=encoder.1.4"]


def test_the_first_edit_moves_nothing(visit: Begin) -> None:
    for width in (1280, 390):
        one = visit(width=width).open("whatif", sentence="the cat sat on the mat", ranked="false")
        is_drawn(one, "whatif")
        cell = one.page.locator(".boards .cell").first
        before = cell.bounding_box()
        with one.running():
            cell.click()
        one.page.locator(".st-key-edits_line").get_by_role("button", name="head 1 off").wait_for()
        assert cell.bounding_box() == before


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
