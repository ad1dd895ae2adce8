"""The page Compare in a browser: another head is shown without the server, by mouse, keyboard and link."""

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visit, chosen_in
from tests.support.browser_pages import Wire
from tests.support.in_the_window import LONGEST, SHORTEST, SIZES, TOO_SMALL, USUAL

Begin = Callable[..., Visit]
SENTENCE = "the cat sat on the mat because it was too tired"
EDITS = "uniform=decoder.2.3"
NAMES = ".changes .part .title"


def test_another_head_is_shown_in_the_browser_and_stays_in_the_link(visit: Begin) -> None:
    one = visit(width=1280, height=720)
    wire = Wire(one.page)
    one.open("compare", sentence=SENTENCE, edits=EDITS)
    page, whole = one.page, wire.take()
    heads, maps = page.get_by_role("radio", name="head 3"), page.locator(".changes .part > svg image")
    expect(page.locator(NAMES)).to_have_text(
        ["Original model: layer 2, head 3", "Edited model: layer 2, head 3", "Middle map − left"]
    )
    expect(page.locator(".changes .says")).to_contain_text("1 of 32 by change")
    assert page.locator(".changes").bounding_box()["y"] + page.locator(".changes").bounding_box()["height"] <= 721
    before = maps.evaluate_all("nodes => nodes.map(node => node.getAttribute('href'))")
    with one.running():
        heads.and_(page.get_by_label("Encoder-decoder, layer 3, head 3")).click()
        expect(page.locator(NAMES).first).to_have_text("Original model: layer 3, head 3", timeout=1000)
    after = maps.evaluate_all("nodes => nodes.map(node => node.getAttribute('href'))")
    assert all(one != other for one, other in zip(before, after, strict=True))
    assert chosen_in(page)["compared_head"] == ["cross.3.3"]
    assert 0 < wire.take() < whole / 4  # the weights are not sent again
    page.keyboard.press("ArrowRight")
    expect(page.locator(NAMES).first).to_have_text("Original model: layer 3, head 4")
    one.settle()
    page.reload()
    one.settle()
    expect(page.locator(NAMES).first).to_have_text("Original model: layer 3, head 4")


@pytest.mark.soak
def test_grey_is_explained_only_where_a_cell_is_masked(visit: Begin) -> None:
    one = visit(width=1280, height=720)
    one.open("compare", sentence=SENTENCE, edits=EDITS, compared_head="cross.3.3")
    page, hint = one.page, one.page.locator(".changes p.pointed")
    expect(hint).to_have_text("Point at a cell for its weights. Rows attend to columns.")
    page.locator(".changes").get_by_role("radio", name="Decoder self, layer 2, head 3").click()
    expect(hint).to_have_text("Point at a cell for its weights. Rows attend to columns; grey is masked.")


@pytest.mark.soak
def test_a_cell_is_said_in_words_by_mouse_and_keyboard(visit: Begin) -> None:
    one = visit(width=1280, height=720)
    one.open("compare", sentence="cat </script><b>", edits=EDITS)
    pointed = one.page.locator(".changes p.pointed")
    one.page.locator(".changes .maps svg").last.focus()
    one.page.keyboard.press("ArrowRight")
    expect(pointed).to_contain_text("attends to “<s>”: 1.00, then 1.00; difference 0.00")
    one.page.keyboard.press("ArrowDown")
    expect(pointed).to_contain_text("then 0.50")  # uniform over the two that the second row may attend to
    for _ in range(2):
        one.page.keyboard.press("ArrowRight")
    expect(pointed).to_contain_text("(masked)")
    one.page.get_by_role("button", name="The head that changes less").click()
    expect(one.page.locator(".changes .says")).to_contain_text("2 of 32 by change")
    back = one.page.get_by_role("button", name="The head that changes more")
    back.focus()
    one.page.keyboard.press("Enter")
    expect(one.page.locator(".changes .says")).to_contain_text("1 of 32 by change")
    expect(back).to_be_disabled()
    expect(back).to_be_focused()


@pytest.mark.soak
@pytest.mark.parametrize(
    ("side", "picture"),
    [
        ("edits", ".changes"),
        ("checkpoint", ".changes"),
        ("torch", ".st-key-torch_stages"),
    ],
)
def test_what_is_compared_is_in_the_window_and_legible(visit: Begin, side: str, picture: str) -> None:
    one = visit(width=SIZES[0][0], height=SIZES[0][1])
    edits = {"edits": EDITS} if side == "edits" else {}
    one.open("compare", sentence=USUAL, side=side, compared_checkpoint="small", **edits)
    for sentence in (USUAL, SHORTEST, LONGEST):
        if sentence != USUAL:
            one.type(sentence)
        for width, height in SIZES:
            one.page.set_viewport_size({"width": width, "height": height})
            one.settle()
            box = one.page.locator(picture).bounding_box()
            assert box["y"] + box["height"] <= height + 1, (sentence[:30], width)
            assert one.page.evaluate(TOO_SMALL, min(14 * height / 720, 20)) == [], (sentence[:30], width)
    one.page.set_viewport_size({"width": 390, "height": 844})
    one.settle()
    assert one.page.evaluate("document.querySelector('[data-testid=stMain]').scrollWidth - innerWidth") <= 0
