"""What is edited in the model is said on every page, in a place that moves nothing, and can be taken back there."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visit, chosen_in
from tests.support.browser_pages import PAGES, is_drawn

Begin = Callable[..., Visit]
SENTENCE = "the cat sat on the mat"
# The upper edges of the heading and of the component, or the element of the page, that the picture is in.
TOPS = """node => {
    const holder = node.getRootNode().host ?? node.closest('[data-testid=stElementContainer]') ?? node;
    const parts = [document.querySelector('.st-key-question'), holder];
    return parts.map(each => Math.round(each.getBoundingClientRect().top));
}"""


def apart(one: dict[str, float], other: dict[str, float]) -> bool:
    """Whether two boxes have no point in common."""
    beside = one["x"] >= other["x"] + other["width"] or other["x"] >= one["x"] + one["width"]
    return beside or one["y"] >= other["y"] + other["height"] or other["y"] >= one["y"] + one["height"]


def opened(one: Visit, name: str, **chosen: str) -> Any:
    """The page, drawn."""
    one.open(PAGES[name].path, sentence=SENTENCE, **chosen)
    is_drawn(one, name)
    return one.page


@pytest.mark.soak
@pytest.mark.parametrize("name", [name for name in PAGES if name != "whatif"])  # it has a line for the edits
def test_the_notice_is_in_the_window_beside_the_heading_and_moves_nothing(visit: Begin, name: str) -> None:
    one = visit(width=1280, height=720)
    picture = PAGES[name].pictures[0]
    tops = opened(one, name, side="sentence").locator(picture).first.evaluate(TOPS)
    page = opened(one, name, side="sentence", edits="off=cross.1.1")
    notice = page.locator(".st-key-edits_notice")
    expect(notice.get_by_text("Edited model:")).to_be_in_viewport(ratio=0.9)
    for part in ("head 1.1 off", "Compare", "Undo all"):
        expect(notice.get_by_role("button", name=part)).to_be_in_viewport(ratio=0.9, timeout=5000)
    assert page.locator(picture).first.evaluate(TOPS) == tops
    box = notice.bounding_box()
    for other in (
        ".st-key-question h1 span",
        ".st-key-headline",
        ".st-key-top",
        ".st-key-picture",
        ".st-key-train_own",
    ):
        for part in page.locator(other).all():
            assert apart(box, part.bounding_box()), other
    page.set_viewport_size({"width": 390, "height": 844})
    one.settle()
    box = notice.bounding_box()
    assert box["y"] + box["height"] == pytest.approx(844, abs=1)
    for part in ("head 1.1 off", "Undo all"):
        expect(notice.get_by_role("button", name=part)).to_be_in_viewport(ratio=0.9, timeout=5000)


@pytest.mark.soak
def test_an_edit_is_taken_back_on_the_page_that_shows_the_notice(visit: Begin) -> None:
    one = visit(width=1280, height=720)
    page = opened(one, "decoding", edits="off=cross.1.1;off=encoder.1.2")
    notice = page.locator(".st-key-edits_notice")
    with one.running():
        notice.get_by_role("button", name="Encoder head 1.2 off").click()
    assert chosen_in(page)["edits"] == ["off=cross.1.1"]
    with one.running():
        notice.get_by_role("button", name="Undo all").click()
    assert "edits" not in chosen_in(page)
    expect(notice).to_have_count(0)
