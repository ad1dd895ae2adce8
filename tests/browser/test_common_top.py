"""The common top: menu, sentence box, checkpoint and translation stay while the pages change."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.browser.conftest import Visit

Begin = Callable[..., Visit]
PAGES = ("Attention", "Masks", "Step by step", "Decoding", "Training", "Models", "Positions", "Translate")

# Notes, in every frame that the browser draws, which of the marked elements have been replaced or have no size.
WATCH = """() => {
  const parts = {
    box: () => document.querySelector('input[aria-label="Sentence"]'),
    menu: () => document.querySelector('.st-key-menu button'),
    checkpoint: () => document.querySelector('.st-key-checkpoint input'),
  };
  const first = Object.fromEntries(Object.entries(parts).map(([name, find]) => [name, find()]));
  window.frames_seen = 0;
  window.lost = [];
  window.watched = true;
  const look = () => {
    for (const [name, find] of Object.entries(parts)) {
      const now = find();
      if (now !== first[name] || !now.getBoundingClientRect().height) window.lost.push(name);
    }
    window.frames_seen += 1;
    if (window.watched) requestAnimationFrame(look);
  };
  look();
}"""


def watched(page: Any) -> tuple[int, list[str]]:
    page.evaluate("window.watched = false")
    lost: list[str] = page.evaluate("window.lost")
    return int(page.evaluate("window.frames_seen")), lost


def test_the_sentence_box_is_never_removed_while_pages_change(visit: Begin) -> None:
    """With the example, which every page shows until something is typed, and with a sentence of the visitor."""
    one = visit().open()
    example = one.page.get_by_label("Sentence", exact=True).input_value()
    assert example
    one.page.evaluate(WATCH)
    for title in PAGES[:3]:
        one.follow(title)
        one.says(example)
    one.type("the old garden")
    for title in PAGES[3:]:
        one.follow(title)
        one.says("the old garden")
    frames, lost = watched(one.page)
    assert lost == []
    assert frames > 100


@pytest.mark.soak
def test_the_examples_close_when_one_is_chosen(visit: Begin) -> None:
    one = visit().open()
    one.page.get_by_role("button", name="Examples").click()
    example = one.page.locator(".st-key-example_1 button")
    example.wait_for()
    text = example.inner_text()
    with one.running():
        example.click()
    one.says(text)
    example.wait_for(state="hidden")


@pytest.mark.soak
def test_the_menu_of_pages_closes_when_a_page_is_chosen(visit: Begin) -> None:
    one = visit(width=390, height=844).open()
    one.follow("Masks")
    one.page.wait_for_url("**/masks*")
    one.page.locator(".st-key-page_list").wait_for(state="hidden")


@pytest.mark.soak
def test_the_name_and_the_word_pages_are_one_button_that_looks_like_one_and_fits_the_line(visit: Begin) -> None:
    for width in (1920, 1280, 700, 390):
        one = visit(width=width).open("masks")
        opener = one.page.locator("[class*='st-key-pages_of_'] button")
        line = "node => getComputedStyle(node).borderTopWidth + getComputedStyle(node).borderTopStyle"
        assert opener.evaluate(line) == "1pxsolid"
        assert opener.inner_text().split()[0] == "Headlight"
        assert "Pages" in opener.inner_text()
        box, menu = opener.bounding_box(), one.page.locator(".st-key-menu button").bounding_box()
        assert box["height"] <= max(44, one.page.locator(".st-key-sentence").bounding_box()["height"]) + 1
        assert abs(box["y"] + box["height"] / 2 - menu["y"] - menu["height"] / 2) < 3, width  # in the first row
        chosen = one.page.locator(".st-key-checkpoint input")
        assert chosen.evaluate("node => node.scrollWidth <= node.clientWidth"), width  # its name is not cut


@pytest.mark.soak
def test_details_that_were_opened_once_are_open_on_every_page(visit: Begin) -> None:
    one = visit().open("residual", sentence="the cat sat")
    one.page.get_by_text("Details: formulas").click()
    one.page.wait_for_url("**details=true*")
    one.follow("Scaling and softmax")
    one.page.locator(".st-key-details_expander [aria-expanded='true'], details[open]:has-text('Details:')").wait_for()


@pytest.mark.soak
def test_the_theme_is_switched_in_the_menu_for_all_pages(visit: Begin) -> None:
    one = visit().open("masks", sentence="the cat sat")
    one.page.locator(".st-key-menu button").click()
    with one.page.expect_navigation():  # the page is loaded again
        one.page.get_by_role("button", name="Dark theme").click()
    one.settle()
    one.says("the cat sat")
    one.open("residual")
    assert one.page.evaluate("getComputedStyle(document.querySelector('[data-testid=stApp]')).colorScheme") == "dark"
    one.page.evaluate("localStorage.clear()")  # all visits share one browser


@pytest.mark.parametrize("name", ["compare", "whatif"])
def test_what_the_model_read_is_beside_the_heading_of_a_page_without_the_translation(name: str, visit: Begin) -> None:
    """It moves nothing, and a click reads the sentence as it was typed."""
    one = visit()
    below = []
    for text in ("die Katze sitzt", "die Katez sitzt"):
        one.open(name, sentence=text, checkpoint="de-en")
        one.page.locator(".st-key-question h1").wait_for()
        below.append(one.page.evaluate("document.querySelector('.st-key-question').getBoundingClientRect().bottom"))
    assert below[0] == below[1]
    note = one.page.locator(".st-key-heading_note button")
    box, heading = note.bounding_box(), one.page.locator(".st-key-question h1").bounding_box()
    assert box["x"] > heading["x"] + heading["width"]
    middle = heading["y"] + heading["height"] / 2
    assert abs(box["y"] + box["height"] / 2 - middle) < 4
    assert note.inner_text().startswith("Katez → Katze")
    note.click()
    one.page.get_by_text("as typed").wait_for()
