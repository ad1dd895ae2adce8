"""The longest sentences in a browser: what would take pages is folded, scrolls or closes up, and names stay apart."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest

from tests.browser.conftest import Visit
from tests.support.browser_pages import is_drawn

Begin = Callable[..., Visit]
LONG = " ".join(["the cat sat on the mat because it was too tired"] * 7)  # 91 tokens

NAMES = """selector => [...document.querySelectorAll(selector)].filter(n => n.style.visibility !== 'hidden').map(n => {
    const [, x, y] = n.getAttribute('transform').match(/translate\\(([^,)]*),?([^)]*)/);
    const angle = +(n.getAttribute('transform').match(/rotate\\(([^,)]*)/)?.[1] ?? 0) * Math.PI / 180;
    return [+x * Math.abs(Math.sin(angle)), parseFloat(n.style.fontSize), n.textContent];
})"""


def pieces(page: Any) -> int:
    return int(page.locator(".meter .count").inner_text().split()[0])


def test_a_long_translation_takes_two_lines_until_it_is_unfolded(visit: Begin) -> None:
    one = visit().open(sentence="the cat sat")
    page = one.page
    page.get_by_text("Force a translation of your own").click()
    box = page.get_by_label("Your translation", exact=True)
    box.fill(" ".join(["the cat sat on the mat because it was too tired"] * 4))
    box.press("Enter")
    one.settle()
    page.locator('[data-testid="stSidebarNav"]').get_by_role("link", name="Scaling and softmax").click()
    one.settle()
    page.set_viewport_size({"width": 390, "height": 900})
    text, button = page.locator(".st-key-headline .long"), page.locator(".st-key-headline .folding")
    folded = text.bounding_box()["height"]
    line = text.evaluate("node => parseFloat(getComputedStyle(node).lineHeight)")
    assert folded == pytest.approx(2 * line, abs=2)
    button.press("Enter")
    assert text.bounding_box()["height"] > folded
    assert button.get_attribute("aria-expanded") == "true"
    button.press("Enter")
    assert text.bounding_box()["height"] == pytest.approx(folded, abs=2)


def test_a_long_row_of_tokens_takes_one_line_and_shows_the_chosen_one(visit: Begin) -> None:
    one = visit().open("decoding", sentence=LONG, t="45")
    row = one.page.locator(".picker")
    chosen = row.get_by_role("radio", checked=True)
    box, inside = row.bounding_box(), chosen.bounding_box()
    assert box["height"] < 64
    assert box["x"] <= inside["x"] and inside["x"] + inside["width"] <= box["x"] + box["width"]  # noqa: PT018
    chosen.focus()
    one.page.keyboard.press("End")
    last = row.get_by_role("radio", checked=True).and_(row.get_by_role("radio").last)
    last.wait_for()
    one.settle()
    inside = last.bounding_box()
    assert box["x"] <= inside["x"] and inside["x"] + inside["width"] <= box["x"] + box["width"]  # noqa: PT018


def test_the_loop_shows_the_piece_that_is_looked_at_most_and_all_of_them_on_demand(visit: Begin) -> None:
    one = visit().open("decoding", sentence=LONG, t="45")
    page = one.page
    is_drawn(one, "decoding")
    weights = "nodes => nodes.map(node => +node.dataset.weight)"
    bars = page.locator("svg.loop .weight")
    some = bars.evaluate_all(weights)
    page.get_by_role("button", name="All tokens").click()
    every = bars.evaluate_all(weights)
    source = pieces(page) + 1
    assert len(some) < len(every) == source + 45
    assert max(every[:source]) in some
    page.get_by_role("button", name="Only the tokens around the strongest").click()
    assert bars.evaluate_all(weights) == some


def test_long_rows_of_lines_close_up_and_what_is_isolated_is_written_large(visit: Begin) -> None:
    one = visit(width=1280).open("attention", sentence=LONG)
    page = one.page
    is_drawn(one, "attention")
    tokens = page.locator(".st-key-lines .token[data-side='1']")
    picture = page.locator(".st-key-lines svg.picture")
    count = max(tokens.count(), page.locator(".st-key-lines .token[data-side='0']").count())
    assert picture.bounding_box()["height"] <= max(1100, 13 * count) + 60
    size = "node => parseFloat(getComputedStyle(node.querySelector('text')).fontSize)"
    small = tokens.nth(5).evaluate(size)
    assert small >= 11
    tokens.nth(5).focus()
    assert tokens.nth(5).evaluate(size) >= 17 > small


@pytest.mark.parametrize(("path", "chart"), [("hand", "hand_map"), ("scaling", "additive"), ("positions", "norms")])
def test_names_along_an_axis_do_not_run_into_each_other(visit: Begin, path: str, chart: str) -> None:
    one = visit().open(path, sentence=LONG, kind="encoder", details="true")
    one.settle()
    selector = f".st-key-picture_{chart} .xaxislayer-above .xtick > text"
    names = one.page.evaluate(NAMES, selector)
    assert 5 < len(names) < one.page.locator(selector).count()
    for (x, size, _), (after, _, _) in pairwise(names):
        assert after - x >= 0.99 * size


def test_few_names_are_all_there(visit: Begin) -> None:
    one = visit().open("hand", sentence="the cat sat", details="true")
    selector = ".st-key-picture_hand_map .xaxislayer-above .xtick > text"
    assert len(one.page.evaluate(NAMES, selector)) == one.page.locator(selector).count()
