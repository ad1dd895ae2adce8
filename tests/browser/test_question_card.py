"""A question about the picture in a browser: it covers the picture, is answered by a key, and then says why."""

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visit
from tests.support.browser_pages import is_drawn

Begin = Callable[..., Visit]
HOSTILE = "the cat </script> <b>the</b> cat"
HIDDEN = "nodes => nodes.every(node => getComputedStyle(node).visibility === 'hidden')"


def asked(visit: Begin) -> Visit:
    """The page Masks with a question over its picture."""
    one = visit().open("masks", sentence=HOSTILE)
    is_drawn(one, "masks")
    one.page.locator(".st-key-predict button").click()
    return one


def test_a_question_is_answered_by_a_key_and_nothing_moves(visit: Begin) -> None:
    page = asked(visit).page
    answers = page.locator(".st-key-question_over_picture .answers button")
    expect(answers.first).to_be_visible()
    assert page.locator(".st-key-picture_causal").evaluate_all(HIDDEN)
    expect(page.locator(".sentence")).to_contain_text(HOSTILE)
    expect(page.locator(".why")).to_have_text("")
    assert page.locator(".answers .right").count() == 0
    before = page.locator(".card .buttons").bounding_box()
    page.get_by_label("Sentence", exact=True).focus()  # what the card covers does not get the focus
    expect(page.locator(".card .prompt")).to_be_focused()
    page.keyboard.press("1")
    expect(page.locator(".answers .right")).to_have_count(1)
    expect(page.locator(".why")).not_to_have_text("")
    expect(answers.first).to_have_attribute("aria-pressed", "true")
    assert page.locator(".card .buttons").bounding_box() == before
    page.locator(".card .next").click()
    expect(page.locator(".why")).to_have_text("")
    expect(page.locator(".card .reveal")).to_be_enabled()
    page.keyboard.press("2")  # received by the card as it is now
    expect(page.locator(".answers .right")).to_have_count(1)
    expect(answers.nth(1)).to_have_attribute("aria-pressed", "true")
    page.locator(".card .next").click()
    expect(page.locator(".why")).to_have_text("")
    page.locator(".card .reveal").click()
    expect(page.locator(".verdict")).to_contain_text("The answer is")
    page.locator(".card .show").click()
    expect(page.locator(".st-key-question_over_picture")).to_have_count(0)
    expect(page.locator(".st-key-picture_causal")).to_be_visible()
    expect(page.locator(".st-key-predict button")).to_be_focused()
    page.get_by_label("Sentence", exact=True).focus()
    expect(page.get_by_label("Sentence", exact=True)).to_be_focused()


def test_the_cell_that_was_asked_about_is_pinned_in_a_picture_that_is_there_already(visit: Begin) -> None:
    one = asked(visit)
    page = one.page
    prompt = page.locator(".card .prompt")
    for _ in range(12):  # until it is about one cell
        expect(prompt).not_to_have_text("")
        if "Which of these cells" in prompt.inner_text():
            break
        with one.running():
            page.locator(".card .next").click()
    page.locator(".card .reveal").click()
    page.locator(".card .show:enabled").click()
    expect(page.locator(".st-key-picture_causal rect.pinned")).to_be_visible()


@pytest.mark.soak
def test_the_card_fits_a_phone_and_is_closed_by_escape(visit: Begin) -> None:
    one = visit(width=390, height=844).open("attention", sentence=HOSTILE)
    is_drawn(one, "attention")
    page = one.page
    page.locator(".st-key-predict button").click()
    expect(page.locator(".card .answers button").first).to_be_visible()
    assert page.locator(".card").evaluate("card => card.getBoundingClientRect().right <= innerWidth")
    assert all(box >= 44 for box in page.locator(".card button").evaluate_all("all => all.map(b => b.offsetHeight)"))
    expect(page.locator(".st-key-picture_canvas")).to_be_hidden()
    page.keyboard.press("Escape")
    expect(page.locator(".st-key-question_over_picture")).to_have_count(0)
    expect(page.locator(".st-key-picture_canvas")).to_be_visible()
    page.locator(".st-key-predict button").click()
    page.locator(".card .reveal").click()
    page.locator(".card .show:enabled").click()  # the row that was asked about is pinned
    expect(page.locator(".st-key-picture_canvas .rows .on")).to_have_count(1)
