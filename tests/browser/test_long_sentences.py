"""The longest sentences in a browser: long pictures are folded, scroll or become denser, and labels do not overlap."""

from collections.abc import Callable
from itertools import pairwise

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


@pytest.mark.soak
def test_a_long_translation_is_one_line_that_scrolls_by_keyboard(visit: Begin) -> None:
    one = visit(width=390).open("hand", sentence=LONG)
    is_drawn(one, "hand")
    line = one.page.locator(".st-key-translation_line .tokens")
    assert line.bounding_box()["height"] < 60
    assert line.evaluate("node => node.scrollWidth > node.clientWidth")
    line.focus()
    one.page.keyboard.press("ArrowRight")
    one.page.wait_for_function("node => node.scrollLeft > 0", arg=line.element_handle())


@pytest.mark.soak
@pytest.mark.parametrize(
    ("path", "chart"),
    [
        ("scaling", "function_additive"),
        ("positions", "norms"),
    ],
)
def test_names_along_an_axis_do_not_overlap(visit: Begin, path: str, chart: str) -> None:
    one = visit().open(path, sentence=LONG, kind="encoder", details="true")
    one.settle()
    selector = f".st-key-picture_{chart} .xaxislayer-above .xtick > text"
    names = one.page.evaluate(NAMES, selector)
    assert 5 < len(names) < one.page.locator(selector).count()
    for (x, size, _), (after, _, _) in pairwise(names):
        assert after - x >= 0.99 * size


@pytest.mark.soak
def test_few_names_are_all_there(visit: Begin) -> None:
    one = visit().open("scaling", sentence="the cat sat", details="true")
    selector = ".st-key-picture_function_additive .xaxislayer-above .xtick > text"
    assert len(one.page.evaluate(NAMES, selector)) == one.page.locator(selector).count()


@pytest.mark.soak
@pytest.mark.parametrize("words", [2, 60])
def test_the_large_map_of_a_head_names_tokens_in_type_of_14_px_that_do_not_overlap(visit: Begin, words: int) -> None:
    one = visit(width=1280, height=720).open("multihead", sentence="a b " * (words // 2))
    is_drawn(one, "multihead")
    names = one.page.locator(".one .head-map text.row")
    boxes = sorted((each.bounding_box() for each in names.all()), key=lambda box: box["y"])
    assert len(boxes) > 1
    assert min(names.evaluate_all("all => all.map(each => parseFloat(getComputedStyle(each).fontSize))")) >= 14
    assert min(next["y"] - box["y"] for box, next in pairwise(boxes)) >= 12
