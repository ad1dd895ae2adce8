"""The search tree alone in a browser: before a class it fits into the window, and says what it leaves out."""

from collections.abc import Iterator
from typing import Any

import pytest

from app.views.decoding.tree_data import tree_picture
from tests.support.component_alone import draw, mount, sent
from transformer.decoding.translation import SearchNode

# How far the tree goes beyond its place and the window, and its smallest type in px.
FITS = """() => {
    const root = document.querySelector(".root"), svg = root.querySelector("svg.tree");
    const note = root.querySelector(".note");
    const boxes = [...svg.querySelectorAll("rect, text")].map(node => node.getBoundingClientRect());
    return {
        wide: Math.max(...boxes.map(box => box.right)) - root.getBoundingClientRect().right,
        high: note.getBoundingClientRect().bottom - innerHeight,
        least: Math.min(...[...svg.querySelectorAll("text")].map(node => parseFloat(getComputedStyle(node).fontSize))),
        scrolls: [...root.querySelectorAll("*")].filter(node => node.scrollWidth > node.clientWidth + 1 &&
            ["auto", "scroll"].includes(getComputedStyle(node).overflowX)).length,
        outside: [...svg.querySelectorAll(".node")].filter(node => {
            const rect = node.querySelector("rect").getBoundingClientRect();
            return [...node.querySelectorAll("text")].some(text => text.getBoundingClientRect().right > rect.right + 1);
        }).length,
    };
}"""
SIZES = ((1280, 720, 16), (1920, 1080, 24))


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    page = browser.new_page()
    yield page
    page.close()


def tree(steps: int, width: int) -> list[SearchNode]:
    """Each step has `width` candidates, all after the best of the step before."""
    nodes = [SearchNode(0, None, 0, 2, "<s>", 0.0, 0.0, 0.0, "start", "")]
    parent = 0
    for step in range(1, steps + 1):
        made = [
            SearchNode(len(nodes) + i, parent, step, 5, "▁Schlüsselwort", -0.5 - i, -12.5 - i, -2.25, "kept", "")
            for i in range(width)
        ]
        nodes += made
        parent = made[0].id
    return nodes


def drawn(
    page: Any, nodes: list[SearchNode], chosen: int, size: tuple[int, int, int], below: str = "--chart-below: 4.8"
) -> Any:
    width, height, rem = size
    page.set_viewport_size({"width": width, "height": height})
    mount(page, "search_tree", f"html {{ font-size: {rem}px; {below}; }} body {{ margin: 0 {2 * rem}px; }}")
    data = tree_picture(nodes, {0}, chosen, [0.5] * len(nodes), title="A tree") | {"alt": "A tree"}
    draw(page, data)
    page.locator("svg.tree .node").first.wait_for()
    return page.evaluate(FITS)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(("steps", "width"), [(3, 4), (12, 4), (40, 9), (5, 30)])
def test_before_a_class_the_tree_fits_into_the_window_and_says_what_it_leaves_out(
    page: Any, steps: int, width: int, size: tuple[int, int, int]
) -> None:
    nodes = tree(steps, width)
    found = drawn(page, nodes, 1, size)
    assert found["wide"] <= 1
    assert found["high"] <= -4.8 * size[2] + 1
    assert found["scrolls"] == found["outside"] == 0
    assert found["least"] >= 14 * size[1] / 720
    columns = len(
        set(page.locator(".node").evaluate_all("all => all.map(node => node.getAttribute('transform').split(',')[0])"))
    )
    note = page.locator(".note").inner_text()
    assert (f"Steps 1 to {columns - 1} of {steps} are shown" in note) == (columns <= steps)
    left_out = 1 + (columns - 1) * width - page.locator(".node").count()
    assert (f"{left_out} candidates at the bottom of their columns are left out" in note) == (left_out > 0)


def test_the_steps_round_the_chosen_node_are_shown(page: Any) -> None:
    nodes = tree(40, 2)
    drawn(page, nodes, nodes[-1].id, SIZES[0])
    assert page.locator(".node.on").get_attribute("data-id") == str(nodes[-1].id)
    assert "to 40 of 40" in page.locator(".note").inner_text()
    page.locator(".node").first.click()
    assert sent(page) != []


def test_elsewhere_all_of_the_tree_is_there_and_scrolls(page: Any) -> None:
    nodes = tree(40, 9)
    found = drawn(page, nodes, 1, SIZES[0], below="")
    assert found["scrolls"] == 1
    assert page.locator(".node").count() == len(nodes)
