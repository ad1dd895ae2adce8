"""The words on a page that have an explanation: they are listed at its end."""

from collections.abc import Callable

from tests.browser.conftest import Visit

Begin = Callable[..., Visit]


def test_a_click_on_a_word_explains_it(visit: Begin) -> None:
    one = visit().open("decoding")
    listed = one.page.locator(".st-key-explained_words")
    explanation = listed.locator(".explanation")
    listed.get_by_role("button", name="log-probability").click()
    explanation.wait_for()
    assert explanation.inner_text().startswith("log-probability\nThe natural logarithm of a probability")
    box = explanation.bounding_box()
    size = one.page.viewport_size
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= size["width"]
    assert box["y"] >= 0
    assert box["y"] + box["height"] <= size["height"]
    one.page.keyboard.press("Escape")
    explanation.wait_for(state="hidden")


def test_the_list_follows_what_is_on_the_page(visit: Begin) -> None:
    one = visit().open("decoding")
    button = one.page.locator(".st-key-explained_words").get_by_role("button", name="causal mask")
    assert not button.count()
    one.page.get_by_text("Details: formulas, code, tables, more pictures").click()
    button.wait_for()
    one.page.get_by_text("Details: formulas, code, tables, more pictures").click()
    button.wait_for(state="detached")


def test_the_words_of_a_picture_are_listed_and_those_of_the_visitor_are_not(visit: Begin) -> None:
    one = visit().open(sentence="the entropy of a batch")
    listed = one.page.locator(".st-key-explained_words")
    listed.get_by_role("button", name="head", exact=True).wait_for()  # in a sentence of the canvas
    assert not {"entropy", "batch"} & set(listed.get_by_role("button").all_inner_texts())


def test_a_lecture_has_no_list(visit: Begin) -> None:
    one = visit().open("decoding", lecture="1")
    assert not one.page.locator(".st-key-explained_words").count()
