"""The canvas on the page Translate, with its server and after the server has stopped."""

from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest
from playwright.sync_api import expect

from app.figures.head_numbers import head_roles
from tests.browser.conftest import PATIENCE, Visit, chosen_in
from tests.support.browser_driver import started_app
from tests.support.canvas_alone import KEY, QUERY, SENTENCE, scene_with

Begin = Callable[..., Visit]
# How long it takes from an event until what it changes is drawn, in ms
TAKES = """async ([selector, type]) => {
    const find = root => root.querySelector(selector)
        ?? [...root.querySelectorAll('*')].map(e => e.shadowRoot && find(e.shadowRoot)).find(Boolean);
    const node = find(document), begun = performance.now();
    node.dispatchEvent(new PointerEvent(type, {bubbles: true, composed: true, pointerType: 'mouse'}));
    if (type === 'click') node.click();
    node.getBoundingClientRect();
    return performance.now() - begun;
}"""


def test_numbers_are_exact_and_a_click_on_a_number_opens_its_calculation(visit: Begin, folder: Path) -> None:
    one = visit().open(sentence=SENTENCE, layer="2", head="3")
    page = one.page
    scene = scene_with(folder / "en-de.safetensors")
    weights = scene.attention("cross").weights[1, 2]  # (T, S)
    query = 1
    key = int(weights[query].argmax())
    page.locator(QUERY).nth(query).click()
    share = float(weights[query, key])
    text = f"{100 * share:.0f}%" if share >= 0.0995 else f"{100 * share:.1f}%"
    page.locator(".weight.key", has_text=text).first.wait_for()
    assert text in page.locator(".say").inner_text()
    page.locator(".weight.key", has_text=text).first.click()
    page.locator(".computed .score.this", has_text=text).wait_for()
    found = scene.record("decoder.layers.1.cross_attention.products")["decoder.layers.1.cross_attention.products"]
    product = f"{found[2, query, key]:.2f}".replace("-", "−")
    assert f"q·k = {product}" in page.locator(".computed").inner_text()
    assert chosen_in(page)["pinned"] == [f"cross.{query + 1}.{key + 1}.computed"]
    page.locator(".computed .link").click()
    page.wait_for_url("**/hand*t=*")
    assert (chosen_in(page)["t"], chosen_in(page)["s"]) == ([str(query + 1)], [str(key + 1)])


@pytest.mark.soak
def test_the_heads_that_link_two_words_are_in_a_visible_order_and_the_shown_one_has_its_place(
    visit: Begin, folder: Path
) -> None:
    one = visit().open(sentence=SENTENCE, layer="2", head="3")
    page = one.page
    scene = scene_with(folder / "en-de.safetensors")
    weights = scene.attention("cross").weights
    of_cell = weights[:, :, 1, 2]  # (L, H)
    order = np.argsort(-of_cell, axis=None)
    role = head_roles(weights, scene.source.tokens, itself=False)[1][2]
    expect(page.locator(".facts .role")).to_have_text(f"{role[0].upper()}{role[1:]}.")
    page.locator(QUERY).nth(1).click()
    expect(page.locator(".say")).to_contain_text("Click a word on the other side: which heads link the two?")
    page.locator(KEY).nth(2).click()
    page.locator(".linked .number", has_text="%").first.wait_for()
    shares = page.locator(".linked .number").all_inner_texts()
    chips = page.locator(".linked button")
    low = chips.first.bounding_box()["height"]
    with one.running():
        chips.nth(3).click()
    expect(chips.nth(3)).to_have_attribute("aria-current", "true")
    assert {chip.bounding_box()["height"] for chip in chips.all()} == {low}
    with one.running():
        page.locator(".head[data-layer='1'][data-head='2']").click()
    assert len(shares) == 6
    for share, weight, after in zip(shares, of_cell.ravel()[order], shares[1:], strict=False):
        digits = len(share.rstrip("%").split(".")[1])
        assert share == f"{100 * weight:.{digits}f}%"
        assert share != after or digits == 4
    place = int((of_cell > of_cell[1, 2]).sum()) + 1
    facts = page.locator(".facts").inner_text()
    assert (f"place {place} of {of_cell.size}." in facts) == (place > 6)


@pytest.mark.soak
def test_hovering_chooses_nothing_and_a_click_chooses_for_every_page(visit: Begin) -> None:
    one = visit().open(sentence=SENTENCE, layer="1", head="1")
    page = one.page
    page.locator(".head").nth(6).hover()
    assert "Layer 2, head 3 (preview)" in page.locator(".facts").inner_text().replace("\n", " ")
    one.settle()
    assert chosen_in(page)["head"] == ["1"]
    page.locator(QUERY).first.evaluate("token => { token.mark = true; }")
    with one.running():
        page.locator(".head").nth(6).click()
    assert page.locator(QUERY).first.evaluate("token => token.mark"), "the tokens were drawn again when the answer came"
    assert (chosen_in(page)["layer"], chosen_in(page)["head"]) == (["2"], ["3"])


def test_a_runner_up_is_taken_and_taken_back(visit: Begin) -> None:
    one = visit().open(sentence=SENTENCE)
    page = one.page
    before = page.locator(QUERY).all_inner_texts()
    runner = page.locator(".probability").nth(1).locator(".runner").first
    taken = runner.locator(".other").inner_text()
    with one.running():
        runner.click()
    page.locator(".undo").wait_for()
    after = page.locator(QUERY).all_inner_texts()
    assert after[:2] == [before[0], taken]
    with one.running():
        page.locator(".undo").click()
    page.locator(".undo").wait_for(state="detached")
    assert page.locator(QUERY).all_inner_texts() == before
    with one.running():
        runner.click()
    with one.running():
        page.get_by_role("button", name="your translation").click()
    page.locator(".undo").wait_for(state="detached")
    assert page.locator(QUERY).all_inner_texts() == before


def test_runners_up_are_buttons_with_their_whole_text_and_a_line_says_what_a_click_does(visit: Begin) -> None:
    page = visit().open(sentence=SENTENCE).page
    page.get_by_text("click one, and decoding continues with it").wait_for()
    for runner in page.locator(".probability button.runner").all():
        cut, border, cursor = runner.evaluate(
            "node => [node.scrollWidth - node.clientWidth, getComputedStyle(node).borderTopStyle, "
            "getComputedStyle(node).cursor]"
        )
        assert (cut, border, cursor) == (0, "solid", "pointer"), runner.inner_text()


@pytest.mark.soak
@pytest.mark.parametrize("lang", ["en", "de"])
def test_each_runner_up_has_its_probability_and_the_number_is_never_cut(visit: Begin, lang: str) -> None:
    page = visit().open(sentence="the small cat sat on the old mat in the house", lang=lang).page
    page.locator(".probability .runner").first.wait_for()
    label = page.locator(".arcs .label.second").bounding_box()["y"] + 1
    for runner in page.locator(".probability .runner").all():
        number = runner.locator(".number")
        assert number.inner_text()
        assert runner.get_attribute("aria-label").endswith(f", {number.inner_text()}")
        size, cut, low = number.evaluate(
            "node => [parseFloat(getComputedStyle(node).fontSize), node.scrollWidth - node.clientWidth, "
            "node.getBoundingClientRect().bottom]"
        )
        assert size >= 14
        assert cut == 0, number.inner_text()
        assert low <= label


@pytest.mark.soak
def test_a_link_has_the_words_that_are_pinned(visit: Begin) -> None:
    """They are kept by the server, too, and of another sentence none is pinned."""
    one = visit().open(sentence=SENTENCE)
    one.page.locator(QUERY).nth(1).click()
    one.page.locator(KEY).nth(2).click()
    assert chosen_in(one.page)["pinned"] == ["cross.2.3"]
    one.page.locator(".linked .number", has_text="%").first.wait_for()
    with one.running():
        one.page.locator(".head").nth(6).click()
    one.settle()
    chosen = {name: value[0] for name, value in chosen_in(one.page).items()}
    assert chosen["pinned"] == "cross.2.3"
    for pinned, (query, key) in {"cross.2.3": (1, 1), "cross.900.3": (0, 1), "encoder.2.3": (0, 0)}.items():
        page = visit().open(**{**chosen, "pinned": pinned, "sentence": SENTENCE}).page
        expect(page.locator(f"{QUERY}.pinned")).to_have_count(query)
        expect(page.locator(f"{KEY}.pinned")).to_have_count(key)
    one.type("a dog")
    expect(one.page.locator(".token.pinned")).to_have_count(0)
    assert "pinned" not in chosen_in(one.page)


@pytest.mark.soak
@pytest.mark.parametrize(
    ("path", "name", "form"),
    [("", "translate_form", "Matrix"), ("attention", "attention_form", "Arcs")],
)
def test_a_link_has_the_form_and_a_page_keeps_it(visit: Begin, path: str, name: str, form: str) -> None:
    """With the words of a calculation that is open."""
    one = visit().open(path, sentence=SENTENCE)
    page = one.page
    with one.running():  # the server hears of it
        page.get_by_role("radio", name=form).click()
        assert chosen_in(page)[name] == [form.lower()]
    with one.running():
        page.locator(".head").nth(6).click()
    one.settle()
    page.reload()
    one.settle()
    expect(page.get_by_role("radio", name=form)).to_be_checked()
    chosen = {name: value[0] for name, value in chosen_in(page).items()}
    assert chosen[name] == form.lower()
    friend = visit().open(path, **{**chosen, "pinned": f"{chosen['kind']}.2.3.computed", "sentence": SENTENCE}).page
    expect(friend.get_by_role("radio", name=form)).to_be_checked()
    expect(friend.locator(".say")).to_contain_text("of its attention to")
    expect(friend.locator(".computed .score.this")).to_be_visible()


@pytest.mark.soak
def test_the_translation_writes_itself_once_and_any_key_shows_all_of_it(visit: Begin) -> None:
    one = visit()
    one.open(sentence=SENTENCE)
    page, again = one.page, one.page.get_by_role("button", name="Write again")
    again.focus()
    page.set_viewport_size({"width": 1100, "height": 800})
    one.settle()
    expect(again).to_be_focused()  # although the controls are drawn again
    again.click()
    assert page.locator(f"{QUERY}.unwritten").count() > 0
    page.keyboard.press("Shift")
    assert page.locator(f"{QUERY}.unwritten").count() == 0
    again.click()
    top = page.locator(".st-key-translation_line .tokens span")
    hidden = ".st-key-translation_line .tokens span[style*='hidden']"
    counts = []
    for _ in range(12):
        page.wait_for_timeout(100)
        counts.append(page.locator(hidden).count())
    assert any(0 < count < top.count() for count in counts), counts  # the line at the top shows what is written
    expect(page.locator(f"{QUERY}.unwritten")).to_have_count(0)
    expect(page.locator(hidden)).to_have_count(0)


@pytest.mark.soak
def test_it_works_with_the_server_stopped_and_in_under_50_ms(browser: Any, folder: Path, tmp_path: Path) -> None:
    page = browser.new_page()
    page.set_default_timeout(PATIENCE)
    page.emulate_media(reduced_motion="reduce")
    with started_app(folder, tmp_path / "log") as (address, _):
        page.goto(f"{address}/?sentence=the+cat+sat&kind=cross&layer=1&head=1")
        page.locator(".canvas .arc").first.wait_for(state="attached")
        page.locator('[data-testid="stApp"][data-test-script-state="notRunning"]').wait_for()
        page.wait_for_timeout(500)
    steps = [
        (f"{QUERY}[data-index='2']", "pointerover"),
        (f"{KEY}[data-index='1']", "pointerover"),
        (".head[data-layer='1'][data-head='2']", "pointerenter"),
        (".head[data-layer='2'][data-head='3']", "click"),
        (".kinds button:nth-child(3)", "click"),
        (".kinds button:nth-child(2)", "click"),
        (".segments button:nth-child(2)", "click"),
    ]
    took = {selector: min(page.evaluate(TAKES, [selector, kind]) for _ in range(3)) for selector, kind in steps}
    assert page.locator(".matrix .column").count() > 0
    assert max(took.values()) < 50, took
    page.locator(".head[data-layer='1'][data-head='2']").click()
    chosen = parse_qs(urlsplit(page.url).query)  # which a reload keeps
    assert (chosen["kind"], chosen["layer"], chosen["head"]) == (["encoder"], ["2"], ["3"])
    page.close()


@pytest.mark.soak
def test_the_list_of_translations_leaves_both_rows_in_view_and_closes_outside_and_with_escape(visit: Begin) -> None:
    for page, width, height in (("", 1280, 720), ("attention", 1280, 720), ("", 390, 844)):
        one = visit(width=width, height=height).open(page, sentence=SENTENCE)
        opener, listed = one.page.locator(".others .opener"), one.page.locator(".others .list")
        opener.click()
        box = listed.bounding_box()
        assert 0 <= box["x"] <= width - box["width"]
        assert box["y"] + box["height"] <= height + 1
        for part in (".frame-of-stage", ".st-key-translation_line"):
            other = one.page.locator(part).bounding_box()
            beside = box["x"] >= other["x"] + other["width"]
            assert beside or box["y"] >= other["y"] + other["height"], (page, width, part)
        one.page.keyboard.press("Escape")
        expect(listed).to_be_hidden()
        expect(opener).to_be_focused()
        opener.click()
        expect(listed).to_be_visible()
        one.page.locator(".st-key-question h1").click()
        expect(listed).to_be_hidden()
        opener.click()
        with one.running():
            listed.get_by_role("button").nth(1).click()
        assert chosen_in(one.page)["alternative"] == ["2"]
