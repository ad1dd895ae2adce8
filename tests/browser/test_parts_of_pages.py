"""What holds for parts of a page that take a click: an accessibility engine finds nothing that shuts people out."""

from collections.abc import Callable

import pytest

from tests.browser.conftest import Visit
from tests.browser.test_every_page import HOSTILE
from tests.support.accessibility import serious
from tests.support.browser_pages import PAGES, click_cell, is_drawn

Begin = Callable[..., Visit]

PARTS = {  # what a page opens with is seen above; here is what takes a click, and the picture that is then there
    "decoding": {
        "Search tree": "svg.tree .node.on",
        "Greedy or beam": ".st-key-greedy_strip .chip",
        "Length penalty": "[data-testid='stMain'] [data-testid='stAlert'], .st-key-picture_penalty_paper .trace",
        "Logit lens": ".st-key-lens .hm image",
        "Reference": ".difference",
    },
    "attention": {"Word alignment": ".st-key-picture_alignment .line", "BertViz": "iframe[srcdoc]"},
    "steps": {"Every step": ".walk h2"},
    "hand": {"All": ".st-key-picture_hand_values .hm image"},
}


@pytest.mark.soak
@pytest.mark.parametrize("name", PARTS)
def test_the_parts_of_a_page_are_accessible_in_the_dark(visit: Begin, name: str) -> None:
    one = visit(dark=True).open(PAGES[name].path, sentence="the cat sat", details="true")
    is_drawn(one, name)
    page = one.page
    for words, picture in PARTS[name].items():
        page.locator("[data-testid='stMain']").get_by_text(words, exact=True).click()
        if words == "Reference":
            page.get_by_label("Your reference translation").fill("die Katze")
            page.get_by_label("Your reference translation").press("Enter")
        page.locator(picture).first.wait_for(state="attached")
        one.settle()
        for frame in page.frames:  # BertViz is in an iframe
            assert serious(frame) == [], words


@pytest.mark.soak
@pytest.mark.parametrize("dark", [False, True])
def test_every_kind_of_station_is_accessible(visit: Begin, dark: bool) -> None:
    """A station of each look that is in no other test, reached by the map and by the buttons: one page, not seven."""
    one = visit(dark=dark).open(
        "steps", sentence="the cat sat", at="decoder.layers.0.self_attention.mask", detail="exam"
    )
    is_drawn(one, "steps")
    page = one.page
    for click, station in (
        ("", "decoder.layers.0.self_attention.mask"),
        ("g[data-station='decoder.layers.*.self_attention.norm_out']", "decoder.layers.0.self_attention.norm_out"),
        ("g[data-station='decoder.layers.*.feed_forward.hidden']", "decoder.layers.0.feed_forward.hidden"),
        ("g[data-station='probabilities']", "probabilities"),
        (".walk .next", "chosen"),
        ("g[data-station='token_ids']", "token_ids"),
        (".walk .player button:first-child", "characters"),
    ):
        if click:
            page.locator(click).click()
        page.wait_for_url(f"**at={station}*")
        one.settle()
        assert serious(page) == [], station


@pytest.mark.soak
def test_one_row_of_attention_by_words_without_special_tokens_is_accessible_in_the_dark(visit: Begin) -> None:
    one = visit(dark=True).open("attention", sentence="the cat sat", hide="true", words="true", one="true")
    is_drawn(one, "attention")
    assert serious(one.page) == []


@pytest.mark.soak
def test_the_doctors_findings_are_accessible(visit: Begin) -> None:
    one = visit().open("multihead", sentence=HOSTILE)
    is_drawn(one, "multihead")
    heading = one.page.locator("[class*='st-key-text_doctor'] h3").first
    for scheme in ("light", "dark"):
        one.page.emulate_media(color_scheme=scheme)
        one.settle()
        if not heading.is_visible():  # another ground draws the page again
            one.page.locator(".st-key-guess_why button").click()
        heading.wait_for()
        one.settle()
        assert serious(one.page) == [], scheme
    assert heading.evaluate("node => getComputedStyle(node).textTransform") == "none"  # </s> is not </S>


@pytest.mark.soak
@pytest.mark.parametrize(
    ("kind", "dark"),
    [
        ("encoder", False),
        ("decoder", True),
        ("cross", False),
    ],
)
def test_a_mask_with_a_chosen_cell_is_accessible(visit: Begin, kind: str, dark: bool) -> None:
    """Of the last mask that is drawn: what all parts allow together, where there are several."""
    one = visit(dark=dark).open(
        "masks", sentence="the cat sat on the mat", kind=kind, sentence_of_batch="1", details="true"
    )
    is_drawn(one, "masks")
    page = one.page
    click_cell(page, "picture_mask_parts", 1, 1)
    one.settle()
    assert page.locator(".st-key-text_verdict").inner_text()
    assert serious(page) == []
