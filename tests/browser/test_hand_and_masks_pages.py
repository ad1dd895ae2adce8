"""Masks in a browser: a click on a mask and on a cell of it, and the arrow keys."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visit, chosen_in
from tests.support.browser_pages import click_cell, is_drawn

Begin = Callable[..., Visit]
SENTENCE = "the cat sat on the mat"


def click(page: Any, picture: str, point: int, subplot: str = "xy") -> None:
    """Clicks the marker in the middle of a cell."""
    dots = page.locator(f".st-key-picture_{picture} .subplot.{subplot} .scatterlayer path.point")
    dots.nth(point).scroll_into_view_if_needed()
    dots.nth(point).click(force=True)


@pytest.mark.soak
def test_a_click_chooses_a_mask_and_a_cell_of_it(visit: Begin) -> None:
    one = visit().open("masks", sentence=SENTENCE, kind="encoder", t="1", k="1", details="true")
    is_drawn(one, "masks")
    page = one.page
    click(page, "mask_overview", 1)  # the first sentence, decoder self-attention
    page.get_by_role("heading", name="Decoder self-attention, sentence 1").wait_for()
    one.settle()
    click_cell(page, "picture_mask_parts", 2, 4, "3")
    verdict = page.locator(".st-key-text_verdict")
    verdict.get_by_text("the future").wait_for()
    assert verdict.inner_text().startswith("Row 3")
    page.get_by_role("radiogroup", name="Key").get_by_role("radio", checked=True).focus()
    page.keyboard.press("ArrowLeft")
    verdict.get_by_text("key 4").wait_for()
    one.settle()
    page.keyboard.press("ArrowLeft")  # the row of tokens keeps the focus
    verdict.get_by_text("the same position").wait_for()


@pytest.mark.soak
def test_a_cell_of_the_causal_mask_is_pinned_by_a_click_and_a_link_has_it(visit: Begin) -> None:
    """The pointer may show others; Escape, or a second click on it, lets it go."""
    one = visit().open("masks", sentence=SENTENCE)
    page = one.page
    cells, status = page.locator(".st-key-picture_causal svg .cell"), page.locator(".st-key-picture_causal .status")
    framed, pinned = (
        page.locator(f".st-key-picture_causal svg {which}") for which in ('[stroke-width="4"]', ".pinned")
    )
    with one.running():
        cells.nth(9).click()
    text = status.inner_text()
    assert "to pin this cell" not in text
    cell = chosen_in(page)["mask_cell"][0]
    cells.nth(0).hover()
    expect(status).not_to_have_text(text)
    page.mouse.move(2, 2)
    expect(status).to_have_text(text)
    assert all(framed.get_attribute(at) == pinned.get_attribute(at) for at in "xy")
    friend = visit().open("masks", sentence=SENTENCE, mask_cell=cell).page
    expect(friend.locator(".st-key-picture_causal .status")).to_have_text(text)
    page.locator(".st-key-picture_causal svg").focus()
    with one.running():
        page.keyboard.press("Escape")
    expect(pinned).to_be_hidden()
    assert "mask_cell" not in chosen_in(page)
    for is_there in (True, False):
        with one.running():
            cells.nth(9).click()
        assert ("mask_cell" in chosen_in(page)) is is_there


@pytest.mark.soak
def test_words_of_the_batch_are_cut_to_their_cells(visit: Begin) -> None:
    """Marks that Plotly would read count as one letter, and a letter outside the first plane is not cut in two."""
    one = visit(width=660).open("masks", sentence="<< 🙂 & the garden", details="true")
    batch = one.page.locator(".st-key-mask_batch")
    cell = batch.locator(".hm image").first.bounding_box()["width"] / batch.locator(".xtick text").count()
    texts = [text.text_content() or "" for text in batch.locator(".textpoint text").all()]
    widths = [text.bounding_box()["width"] for text in batch.locator(".textpoint text").all()]
    assert any("…" in text for text in texts)
    assert max(widths) < 1.3 * cell
    assert not any("\ufffd" in text or "&" in text[1:] for text in texts)


@pytest.mark.soak
def test_nothing_is_wider_than_the_screen(visit: Begin) -> None:
    one = visit(dark=True).open("masks", kind="decoder")
    is_drawn(one, "masks")
    assert one.page.locator('[data-testid="stMain"]').evaluate("n => n.scrollWidth <= n.clientWidth + 1")
    first = one.page.locator(".js-plotly-plot, svg.picture").first.bounding_box()
    assert first["y"] + 100 < 900  # seen without scrolling


OVER = """() => {
    const boxes = [...document.querySelectorAll('.st-key-picture_masking .plain-texts text')]
        .filter(node => node.textContent === '−∞').map(node => node.getBoundingClientRect());
    const over = boxes.filter((box, i) => i && Math.abs(box.y - boxes[i - 1].y) < 4 && box.x < boxes[i - 1].right);
    return [boxes.length, over.length];
}"""


@pytest.mark.soak
def test_marks_of_minus_infinity_do_not_overlap(visit: Begin) -> None:
    one = visit().open(
        "masks",
        sentence=f"{SENTENCE}, the cat sat on the mat, the cat sat on the mat",
        second_sentence="cat",
        kind="encoder",
        details="true",
    )
    is_drawn(one, "masks")
    one.settle()
    count, over = one.page.evaluate(OVER)
    assert count > 100
    assert over == 0, count


FILLS = """() => {
    const root = [...document.querySelectorAll('.st-key-causal *')].find(node => node.shadowRoot).shadowRoot;
    return {free: root.querySelector('svg.picture').classList.contains('free'),
            score: root.querySelector('.score').textContent, status: root.querySelector('.status').textContent};
}"""


def test_the_mask_is_taken_away_and_cells_are_read_without_the_server(visit: Begin) -> None:
    one = visit().open("masks", sentence=SENTENCE)
    is_drawn(one, "masks")
    page = one.page
    before = page.evaluate(FILLS)
    assert not before["free"]
    assert "cannot attend to" in before["status"]
    writes, reads, arrow = page.locator(".st-key-causal svg .label.near").all_text_contents()[:3]
    assert (arrow, f"Row 2 reads “{reads}” to write “{writes}”" in before["status"]) == ("→", True)
    page.context.set_offline(True)
    try:
        page.get_by_role("radio", name="Without it").click()
        after = page.evaluate(FILLS)
        assert after["free"]
        assert after["score"] != before["score"]
        assert "does not exist yet" in after["status"]
        page.locator(".st-key-causal svg.picture").focus()
        page.keyboard.press("ArrowLeft")
        assert "itself" in page.evaluate(FILLS)["status"]
        page.get_by_role("radio", name="Without it").focus()
        page.keyboard.press("ArrowLeft")
        assert page.evaluate(FILLS)["score"] == before["score"]
    finally:
        page.context.set_offline(False)


def test_the_picture_says_whose_attention_it_is_and_that_the_switch_changes_only_it(visit: Begin) -> None:
    one = visit(height=720).open("masks", sentence=SENTENCE, mask_taken="true")
    is_drawn(one, "masks")
    heading = one.page.locator(".st-key-causal .heading")
    assert heading.locator("h3").inner_text().startswith("The model of this page: ")
    assert heading.locator(".note").inner_text() == "the switch changes only this picture"
    assert heading.bounding_box()["height"] < 32  # one line
    assert one.page.get_by_role("radio", name="Without it").is_checked()


@pytest.mark.soak
def test_the_scores_before_the_mask_are_those_of_the_sentence_of_the_page(visit: Begin) -> None:
    one = visit(height=720).open("masks", sentence=SENTENCE)
    is_drawn(one, "masks")
    page, scores = one.page, one.page.get_by_role("radio", name="Scores before")
    place = page.locator(".st-key-causal svg.picture").bounding_box()
    with one.running():
        scores.click()
        assert page.evaluate(FILLS)["score"].startswith("Scores before the mask")  # without the server
    assert "; the mask sets it to −∞, so its weight is 0." in page.evaluate(FILLS)["status"]
    page.locator(".st-key-causal svg.picture").focus()
    page.keyboard.press("ArrowLeft")
    assert re.search(r"; score −?\d+\.\d+ of itself, weight 0?1?\.\d+", page.evaluate(FILLS)["status"])
    assert page.locator(".st-key-causal svg.picture").bounding_box() == place
    assert chosen_in(page)["mask_scores"] == ["true"]
    other = visit().open("masks", sentence=SENTENCE, mask_scores="true")
    is_drawn(other, "masks")
    assert other.page.evaluate(FILLS)["score"].startswith("Scores before the mask")


@pytest.mark.soak
def test_the_wheel_scrolls_the_page_and_chooses_no_cell(visit: Begin) -> None:
    one = visit(height=600).open("masks", sentence=SENTENCE)
    is_drawn(one, "masks")
    page = one.page
    box = page.locator(".st-key-causal svg .cell").first.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x - 2, y - 2)
    page.mouse.move(x, y)  # pointing chooses
    status = page.evaluate(FILLS)["status"]
    page.mouse.wheel(0, 3 * box["height"])
    page.wait_for_function("() => document.querySelector('[data-testid=stMain]').scrollTop > 0")
    page.mouse.move(x + 1, y + 2)  # the hand on the wheel
    assert page.evaluate(FILLS)["status"] == status
    page.mouse.move(x + 1, y + 10)
    assert page.evaluate(FILLS)["status"] != status


@pytest.mark.soak
def test_another_head_of_the_causal_picture_is_chosen_and_is_in_the_address(visit: Begin) -> None:
    one = visit().open("masks", sentence=SENTENCE, mask_head="1.1")
    is_drawn(one, "masks")
    with one.running():
        one.page.locator(".st-key-causal select[data-name=head]").select_option(index=2)
    assert chosen_in(one.page)["mask_head"] == ["1.3"]


@pytest.mark.soak
def test_the_address_says_that_the_mask_is_removed(visit: Begin) -> None:
    one = visit().open("masks", sentence=SENTENCE)
    is_drawn(one, "masks")
    with one.running():
        one.page.get_by_role("radio", name="Without it").click()
    assert chosen_in(one.page)["mask_taken"] == ["true"]
    assert one.page.evaluate(FILLS)["free"]
    other = visit().open("masks", sentence=SENTENCE, mask_taken="true")
    is_drawn(other, "masks")
    assert other.page.evaluate(FILLS)["free"]
