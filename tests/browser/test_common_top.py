"""The common top: sidebar, sentence box and controls stay while the pages change."""

from collections.abc import Callable
from typing import Any

from tests.browser.conftest import Visit

Begin = Callable[..., Visit]
PAGES = ("Attention", "Masks", "Step by step", "Decoding", "Training", "Models", "Positions", "Translate")

# Notes, in every frame that the browser draws, which of the marked elements have been replaced or have no size.
WATCH = """() => {
  const parts = {
    box: () => document.querySelector('input[aria-label="Sentence"]'),
    menu: () => document.querySelector('[data-testid="stSidebarNav"]'),
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
    one = visit().open()
    one.type("the old garden")
    one.page.evaluate(WATCH)
    for title in PAGES:
        one.follow(title)
        one.says("the old garden")
    frames, lost = watched(one.page)
    assert lost == []
    assert frames > 100


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


def test_the_menu_of_pages_closes_on_a_phone_when_a_page_is_chosen(visit: Begin) -> None:
    one = visit(width=390, height=844).open()
    one.page.locator('[data-testid="stExpandSidebarButton"]').click()
    menu = one.page.locator('[data-testid="stSidebarNav"]')
    menu.wait_for()
    with one.running():
        menu.get_by_role("link", name="Masks").click()
    one.page.wait_for_url("**/masks*")
    one.page.wait_for_function(
        "document.querySelector('[data-testid=\"stSidebar\"]').getBoundingClientRect().right <= 1"
    )
    one.page.evaluate("localStorage.clear()")  # where the browser keeps that the menu is closed, for later visits too
