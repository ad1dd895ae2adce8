"""Step by step in a browser: the walk by keys and by the map, and what it draws is the tensor of the station."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from tests.browser.conftest import Visit, chosen_in
from tests.support.browser_pages import is_drawn
from transformer.analysis.trace import trace
from transformer.decoding.translator import Translator

Begin = Callable[..., Visit]
SENTENCE = "the cat sat on the mat"


def station(page: Any) -> str:
    return str(page.locator(".walk h2").inner_text())


def test_the_arrow_keys_walk_and_each_picture_is_the_tensor_of_its_station(visit: Begin, folder: Path) -> None:
    one = visit().open("steps", sentence=SENTENCE, at="encoder.embedding.tokens", detail="exam", details="true")
    is_drawn(one, "steps")
    page = one.page
    assert page.locator("svg.map .box.on").bounding_box()["y"] < 900, "the map shows where one is without scrolling"
    translator = Translator.load(folder / "en-de.safetensors")
    found = translator.translate(SENTENCE).sentences[0]
    truth = trace(translator.model, found.source_ids, found.hypotheses[0].ids, ["encoder.embedding.*"]).arrays
    for name in ("tokens", "scaled", "positions", "output"):
        page.wait_for_url(f"**at=encoder.embedding.{name}*")
        one.settle()
        lengths = [float(text) for text in page.locator(".walk .frame text.value").all_text_contents()]
        expected = np.linalg.norm(truth[f"encoder.embedding.{name}"].astype(np.float64), axis=-1)
        np.testing.assert_allclose(lengths, expected, atol=0.0501, err_msg=name)
        page.keyboard.press("ArrowRight")
    page.wait_for_url("**at=encoder.layers.0.*")
    page.keyboard.press("ArrowLeft")
    page.wait_for_url("**at=encoder.embedding.output*")


@pytest.mark.soak
def test_a_row_that_an_edit_puts_in_is_not_called_the_sum(visit: Begin) -> None:
    address = {"sentence": SENTENCE, "at": "encoder.embedding.output", "detail": "exam"}
    one = visit().open("steps", s="2", edits="patch=embedding.2.17-93-3", **address)
    is_drawn(one, "steps")
    names = one.page.locator(".walk .zone text:not(.value)")
    assert names.all_text_contents() == ["embedding", "+ position", "edited"]
    one.page.locator(".walk .frame .row").nth(2).click()
    assert names.all_text_contents() == ["embedding", "+ position", "= the sum"]


@pytest.mark.soak
def test_a_step_is_drawn_once_and_not_again_when_the_server_has_heard_of_it(visit: Begin) -> None:
    one = visit().open("steps", sentence=SENTENCE, at="encoder.embedding.tokens", detail="exam")
    is_drawn(one, "steps")
    one.page.locator(".walk .next").click()
    one.page.locator(".walk .frame > *").first.evaluate("part => { part.mark = true; }")
    one.page.wait_for_url("**at=encoder.embedding.scaled*")
    one.settle()
    assert one.page.locator(".walk .frame > *").first.evaluate("part => part.mark")


@pytest.mark.soak
def test_another_layer_is_the_same_station_there(visit: Begin) -> None:
    one = visit().open("steps", sentence=SENTENCE, at="decoder.layers.1.cross_attention.scores")
    is_drawn(one, "steps")
    numbers = one.page.locator("svg.map .number[aria-label^='decoder']")
    assert [number.get_attribute("aria-pressed") for number in numbers.all()] == ["false", "true", "false"]
    numbers.first.click()
    one.page.wait_for_url("**at=decoder.layers.0.cross_attention.scores*")
    one.settle()
    assert numbers.first.get_attribute("aria-pressed") == "true"


def test_a_box_of_the_map_is_chosen_by_click_and_by_key(visit: Begin) -> None:
    one = visit().open("steps", sentence=SENTENCE)
    is_drawn(one, "steps")
    page = one.page
    page.locator("svg.map .box[data-station^='decoder.layers.*.cross_attention']").first.click()
    page.wait_for_url("**at=decoder.layers.0.cross_attention*")
    one.settle()
    box = page.locator("svg.map .box[data-station='logits']")
    box.focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**at=logits*")
    one.settle()
    assert "ogits" in station(page)


@pytest.mark.soak
def test_up_and_down_go_from_box_to_box_and_each_lights_up(visit: Begin) -> None:
    one = visit().open("steps", sentence=SENTENCE, at="encoder.layers.0.self_attention.query")
    is_drawn(one, "steps")
    page = one.page
    page.locator("svg.map .box.on").focus()
    page.keyboard.press("ArrowUp")
    page.wait_for_url(
        "**at=encoder.layers.0.self_attention.norm_out*"
    )  # not in a first lecture, and reached all the same
    one.settle()
    assert page.locator("svg.map .box.on").get_attribute("aria-label") == "encoder: Add & Norm"
    page.keyboard.press("ArrowDown")
    page.wait_for_url("**at=encoder.layers.0.self_attention.query*")


CUT = """() => [...document.querySelectorAll('.katex-display .base')].filter(part => {
    const [own, place] = [part, part.closest('[data-testid=stMarkdown]')].map(node => node.getBoundingClientRect());
    const scrolls = getComputedStyle(part.closest('.katex-display')).overflowX === 'auto';  // on a phone
    return !scrolls && (own.left < place.left - 1 || own.right > place.right + 1);
}).length"""
OPEN = """() => document.querySelectorAll('[data-testid=stExpander] details:not([open]) > summary')
    .forEach(one => one.click())"""
FORMULAS = (
    "encoder.embedding.positions",
    "encoder.layers.0.self_attention.output",
    "encoder.layers.0.feed_forward.output",
)


@pytest.mark.soak
def test_no_formula_is_cut_off_on_a_screen_or_a_phone(visit: Begin) -> None:
    one = visit()

    def cut(*where: str) -> None:
        one.settle()
        one.page.evaluate(OPEN)
        one.page.locator(".katex-display").filter(visible=True).first.wait_for()
        one.settle()
        assert one.page.evaluate(CUT) == 0, where

    for station in FORMULAS:
        one.page.set_viewport_size({"width": 1280, "height": 900})
        one.open("steps", sentence="the cat", at=station, detail="exam", details="true")
        cut(station, "1280")
        one.page.set_viewport_size({"width": 390, "height": 900})
        cut(station, "390")
    one.open("attention", sentence="the cat", written="all")
    cut("attention", "390")
    one.page.set_viewport_size({"width": 1280, "height": 900})
    cut("attention", "1280")
    one.open("hand", sentence="the cat", written="all")  # on a phone a long sum scrolls
    cut("hand", "1280")


@pytest.mark.soak
def test_play_continues_by_itself_and_pauses(visit: Begin) -> None:
    one = visit().open("steps", sentence="the cat", at="encoder.embedding.tokens", detail="exam")
    is_drawn(one, "steps")
    page = one.page
    page.get_by_role("button", name="Play").click()
    page.wait_for_url("**at=encoder.embedding.positions*")
    page.get_by_role("button", name="Pause").click()
    page.get_by_role("button", name="Play").wait_for()
    one.settle()
    held = station(page)
    page.wait_for_timeout(4500)  # longer than a station is shown while playing
    assert station(page) == held


AT_ONCE = """() => {
    const walk = [...document.querySelectorAll('*')].find(node => node.shadowRoot?.querySelector('.walk')).shadowRoot;
    const begin = performance.now();
    document.dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowRight', bubbles: true}));
    return [walk.querySelector('h2').textContent, walk.querySelectorAll('.frame .row').length,
        walk.querySelector('.waits') !== null, performance.now() - begin];
}"""


def test_the_next_station_is_drawn_before_the_server_answers(visit: Begin) -> None:
    one = visit().open("steps", sentence=SENTENCE, at="encoder.layers.0.self_attention.products", detail="exam")
    is_drawn(one, "steps")
    for title in ("Divided by √d_k", "Mask", "Scores after the mask", "Softmax gives the weights"):
        found, rows, waits, took = one.page.evaluate(AT_ONCE)  # one turn of the browser: no answer can have come
        assert (found, waits) == (title, False)
        assert rows > 5
        assert took < 300


PLACES = """() => {
    const walk = [...document.querySelectorAll('*')].find(node => node.shadowRoot?.querySelector('.walk')).shadowRoot;
    const box = node => { const {x, y, width, height} = node.getBoundingClientRect(); return [x, y, width, height]; };
    return ['.player', '.play', 'h2', '.picture-place', '.read', 'p', 'svg.map', '.walk']
        .map(name => box(walk.querySelector(name)).map(Math.round).join(' '));
}"""


@pytest.mark.soak
def test_nothing_moves_from_station_to_station_and_all_is_in_the_window(visit: Begin) -> None:
    one = visit(height=720).open("steps", sentence=SENTENCE)
    is_drawn(one, "steps")
    page, places, titles = one.page, set(), set()
    for _ in range(30):
        found = page.evaluate(PLACES)
        places.add(tuple(place if name != 2 else place.split()[1] for name, place in enumerate(found)))  # the heading
        titles.add(station(page))
        page.keyboard.press("ArrowRight")
    assert len(titles) > 15
    assert len(places) == 1
    *_, walk = found
    _, top, _, height = map(int, walk.split())
    assert top + height <= 720


@pytest.mark.soak
def test_walking_leaves_alone_what_other_pages_open_with(visit: Begin) -> None:
    one = visit().open("steps", sentence=SENTENCE)
    is_drawn(one, "steps")
    for _ in range(12):
        one.page.keyboard.press("ArrowRight")
    one.page.wait_for_url("**at=*")
    one.settle()
    one.follow("Attention")
    assert not {"kind", "layer", "head"} & set(chosen_in(one.page))


@pytest.mark.soak
def test_a_cell_that_is_pointed_at_has_its_own_number(visit: Begin, folder: Path) -> None:
    site = "encoder.layers.0.self_attention.output"
    one = visit().open("steps", sentence=SENTENCE, at=site, detail="exam")
    is_drawn(one, "steps")
    translator = Translator.load(folder / "en-de.safetensors")
    found = translator.translate(SENTENCE).sentences[0]
    truth = trace(translator.model, found.source_ids, found.hypotheses[0].ids, [f"{site.rpartition('.')[0]}.*"])[site]
    image = one.page.locator(".walk .frame image")
    box = image.bounding_box()
    for row, column in ((0, 0), (3, 7), (truth.shape[0] - 1, truth.shape[1] - 1)):
        one.page.mouse.move(
            box["x"] + (column + 0.5) * box["width"] / truth.shape[1],
            box["y"] + (row + 0.5) * box["height"] / truth.shape[0],
        )
        shown = one.page.locator(".walk .read").inner_text().replace("−", "-")
        assert shown.endswith(f"dimension {column}: {truth[row, column]:.4f}".replace("-0.0000", "0.0000"))


@pytest.mark.soak
def test_a_row_that_is_clicked_is_followed_and_so_is_the_step_that_attends_to_it(visit: Begin) -> None:
    one = visit().open("steps", sentence=SENTENCE, at="encoder.embedding.output", s="1")
    is_drawn(one, "steps")
    page = one.page
    page.locator(".walk .row").nth(2).click()
    assert page.locator(".walk .row").nth(2).get_attribute("aria-checked") == "true"
    assert page.locator("svg.map .token-marker.encoder").text_content().strip("▁")
    page.wait_for_url(re.compile(r"\bs=3\b"))
    one.settle()
    page.locator('.walk .row[aria-checked="true"]').focus()
    page.keyboard.press("ArrowDown")
    page.wait_for_url(re.compile(r"\bs=4\b"))


@pytest.mark.soak
def test_the_map_is_saved_as_it_is_seen(visit: Begin) -> None:
    one = visit().open("steps", sentence="the </svg> & cat", at="token_ids", details="true")
    one.settle()
    page = one.page
    texts = page.locator("svg.map text").all_text_contents()
    page.locator(".st-key-table_map button").click()
    for kind in ("SVG", "PNG"):
        with page.expect_download() as saved:
            page.locator(".st-key-export_map").get_by_role("button", name=kind).click()
        content = Path(saved.value.path()).read_bytes()
        if kind == "PNG":
            assert content.startswith(b"\x89PNG")
            assert len(content) > 3000
            continue
        drawn = ElementTree.fromstring(content)
        words = [node.text for node in drawn.iter("{http://www.w3.org/2000/svg}text")]
        assert len(texts) > 5
        assert set(texts) <= set(words)
