"""Side by side: any page beside the same page of another model or sentence, each in a frame of its own."""

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visit
from tests.support.patience import PATIENCE

Begin = Callable[..., Visit]


@pytest.mark.soak
def test_attention_is_opened_beside_the_original_model(visit: Begin) -> None:
    edits = "skip=decoder.1.feed_forward;skip=decoder.2.feed_forward"
    one = visit().open("attention", sentence="the cat sat on the mat", edits=edits)
    one.page.locator(".st-key-menu button").first.click()
    with one.running():
        one.page.get_by_role("button", name="Open beside").click()
    assert one.page.get_by_text("Original model", exact=True).count()
    frames = [one.page.frame_locator(".frames iframe").nth(at) for at in (0, 1)]
    for frame in frames:
        frame.locator(".canvas .matrix .name").first.wait_for(state="attached", timeout=1000 * PATIENCE)
        expect(frame.get_by_label("Sentence", exact=True)).to_have_value("the cat sat on the mat")
        expect(frame.get_by_label("Sentence", exact=True)).to_be_hidden()  # the page around it has the top
    edited, original = (frame.locator(".tokens[role=img]").get_attribute("aria-label") for frame in frames)
    assert edited != original
    assert "cat" not in one.page.url  # the sentence is private


@pytest.mark.soak
def test_what_is_done_in_a_frame_stays_in_it(visit: Begin) -> None:
    one = visit().open("beside", sentence="the cat", beside_page="masks", beside="sentence", beside_sentence="the mat")
    frames = [one.page.frame_locator(".frames iframe").nth(at) for at in (0, 1)]
    for frame, sentence in zip(frames, ("the cat", "the mat"), strict=True):
        expect(frame.get_by_label("Sentence", exact=True)).to_have_value(sentence, timeout=1000 * PATIENCE)
    frames[1].get_by_role("radio", name="Without it").click()
    one.page.wait_for_timeout(1000)
    expect(frames[0].get_by_role("radio", name="With the mask")).to_be_checked()
    expect(frames[1].get_by_role("radio", name="Without it")).to_be_checked()
    one.page.reload()
    one.settle()
    one.says("the cat")  # the tab remembers its own sentence, not that of a frame


@pytest.mark.soak
def test_another_address_of_a_frame_is_not_an_entry_in_the_history_of_the_tab(visit: Begin) -> None:
    one = visit().open("beside", sentence="the cat", beside_page="masks", beside="sentence", beside_sentence="the mat")
    sentence = one.page.frame_locator(".frames iframe").nth(1).get_by_label("Sentence", exact=True)
    expect(sentence).to_have_value("the mat", timeout=1000 * PATIENCE)
    before = one.page.evaluate("history.length")
    box = one.page.get_by_label("Second sentence", exact=True)
    box.fill("the old cat")
    box.press("Enter")
    expect(sentence).to_have_value("the old cat", timeout=1000 * PATIENCE)
    assert one.page.evaluate("history.length") == before
