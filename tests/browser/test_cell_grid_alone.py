"""A grid of cells alone in a browser: all rows have their names where there is room for small type."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest

from app.figures.theme import weight_scale
from tests.support.component_alone import draw, mount

ROWS = 17


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    page = browser.new_page()
    page.set_viewport_size({"width": 1280, "height": 720})
    yield page
    page.close()


def grid() -> dict[str, Any]:
    view = {"name": "A", "values": [[0.5] * 4] * ROWS, "scale": weight_scale(), "signed": False}
    axis = {"title": "rows", "color": "black", "gone": []}
    return {
        "views": [view | {"says": "{row} {column} {value}", "means": "", "digits": 1}],
        "rows": axis | {"names": [f"word {row}" for row in range(ROWS)]},
        "columns": axis | {"names": ["a", "b", "c", "d"]},
        "alt": "A grid",
        "chosen": 0,
        "framed": False,
        "height": 205,
        "received": 0,
    }


@pytest.mark.parametrize(("more", "named"), [(0, 9), (58, ROWS), (200, ROWS)])
def test_with_the_room_that_a_lecture_leaves_all_rows_are_named_and_no_name_overlaps(
    page: Any, more: int, named: int
) -> None:
    mount(page, "cell_grid", f"html {{ --grid-more: {more}; }}")
    draw(page, grid())
    names = page.locator("text.name[data-row]:not(.spare)")
    assert names.count() == named
    tops = sorted(names.evaluate_all("all => all.map(each => each.getBoundingClientRect().top)"))
    sizes = names.evaluate_all("all => all.map(each => parseFloat(getComputedStyle(each).fontSize))")
    assert min(sizes) >= 14
    assert min(after - top for top, after in pairwise(tops)) >= 13.9


def test_arrow_keys_stop_at_the_edge(page: Any) -> None:
    mount(page, "cell_grid")
    draw(page, grid())
    page.locator("svg.picture").focus()
    for key, at in [("ArrowUp", 0), ("ArrowLeft", 0), ("End", 0), *[("ArrowRight", n) for n in (1, 2, 3, 3)]]:
        page.keyboard.press(key)
        assert page.locator(".status span").first.inner_text().split() == ["“word", "0”", f"“{'abcd'[at]}”", "0.50"]
    for _ in range(ROWS):
        page.keyboard.press("ArrowDown")
    assert "“word 16” “d”" in page.locator(".status span").first.inner_text()
