"""Words with an explanation: they are underlined where they are read, and listed at the end of the page."""

from collections.abc import Callable

from tests.browser.conftest import Visit

Begin = Callable[..., Visit]
# The middle of the first place where this word is underlined, in the window.
PLACE = """(word) => {
    const range = [...CSS.highlights.get("explained")].find((each) => each.toString().toLowerCase() === word);
    range.startContainer.parentElement.scrollIntoView({ block: "center" });
    const box = range.getClientRects()[0];
    return [box.x + box.width / 2, box.y + box.height / 2];
}"""


def test_a_click_on_a_word_or_on_its_name_in_the_list_explains_it(visit: Begin) -> None:
    from playwright.sync_api import expect

    one = visit().open("decoding")
    listed = one.page.locator(".st-key-explained_words")
    explanation = listed.locator(".explanation")
    listed.get_by_role("button", name="log-probability").click()
    explanation.wait_for()
    assert explanation.inner_text().startswith("log-probability\nThe natural logarithm of a probability")
    one.page.keyboard.press("Escape")
    explanation.wait_for(state="hidden")
    x, y = one.page.evaluate(PLACE, "beam search")
    one.page.mouse.move(x, y)
    expect(one.page.get_by_test_id("stMainBlockContainer")).to_have_css("cursor", "help")
    one.page.mouse.click(x, y)
    explanation.wait_for()
    box = explanation.bounding_box()
    size = one.page.viewport_size
    assert explanation.inner_text().startswith("beam search\n")
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= size["width"]
    assert box["y"] >= 0
    assert box["y"] + box["height"] <= size["height"]


def test_the_list_follows_what_is_on_the_page(visit: Begin) -> None:
    one = visit().open("decoding")
    button = one.page.locator(".st-key-explained_words").get_by_role("button", name="causal mask")
    assert not button.count()
    one.page.get_by_text("Details: formulas, code, tables, more pictures").click()
    button.wait_for()
    one.page.get_by_text("Details: formulas, code, tables, more pictures").click()
    button.wait_for(state="detached")


def test_a_lecture_has_no_list(visit: Begin) -> None:
    one = visit().open("decoding", lecture="1")
    assert not one.page.locator(".st-key-explained_words").count()
