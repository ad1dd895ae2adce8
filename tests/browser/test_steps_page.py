"""Step by step in a browser: the walk by keys and by the map, and what it draws is the tensor of the station."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np

from tests.browser.conftest import Visit
from tests.support.browser_pages import is_drawn
from transformer.analysis.trace import trace
from transformer.decoding.translator import Translator

Begin = Callable[..., Visit]
SENTENCE = "the cat sat on the mat"
LONG = "the cat sat on the mat because it was too tired"
CHART = """() => {
    const z = document.querySelector('.st-key-picture_tensor .js-plotly-plot')._fullData[0].z;  // as Plotly has it
    return Array.from(z._inputArray ?? z, row => Array.from(row));
}"""


def station(page: Any) -> str:
    return str(page.locator(".st-key-station h2").inner_text())


def test_the_arrow_keys_walk_and_each_picture_is_the_tensor_of_its_station(visit: Begin, folder: Path) -> None:
    one = visit().open("steps", sentence=SENTENCE, at="encoder.embedding.tokens", detail="exam")
    is_drawn(one, "steps")
    page = one.page
    assert page.locator("svg.map .box.on").bounding_box()["y"] < 900, "the map shows where one is without scrolling"
    translator = Translator.load(folder / "en-de.safetensors")
    found = translator.translate(SENTENCE).sentences[0]
    truth = trace(translator.model, found.source_ids, found.hypotheses[0].ids, ["encoder.embedding.*"]).arrays
    for name in ("tokens", "scaled", "positions", "output"):
        page.wait_for_url(f"**at=encoder.embedding.{name}*")
        one.settle()
        drawn = np.array(page.evaluate(CHART), dtype=np.float32)
        assert np.array_equal(drawn, truth[f"encoder.embedding.{name}"]), name
        page.keyboard.press("ArrowRight")
    page.wait_for_url("**at=encoder.layers.0.*")
    page.keyboard.press("ArrowLeft")
    page.wait_for_url("**at=encoder.embedding.output*")


def test_another_layer_is_the_same_station_there(visit: Begin) -> None:
    one = visit().open("steps", sentence=SENTENCE, at="decoder.layers.1.cross_attention.scores")
    is_drawn(one, "steps")
    bar = one.page.locator(".st-key-chosen .switches")
    assert bar.get_by_role("radiogroup", name="Layer").get_by_role("radio", checked=True).inner_text() == "2"
    bar.get_by_role("radiogroup", name="Layer").get_by_role("radio", name="1").click()
    one.page.wait_for_url("**at=decoder.layers.0.cross_attention.scores*")
    bar.get_by_role("button", name="Clearest head").click()
    one.page.wait_for_url(re.compile(r"at=decoder\.layers\.[1-9]\.cross_attention\.scores"))  # never the first layer


def test_a_box_of_the_map_is_chosen_by_click_and_by_key(visit: Begin) -> None:
    one = visit().open("steps", sentence=SENTENCE)
    is_drawn(one, "steps")
    page = one.page
    page.locator("svg.map .box[data-station^='decoder.layers.0.cross_attention']").first.click()
    page.wait_for_url("**at=decoder.layers.0.cross_attention*")
    one.settle()
    box = page.locator("svg.map .box[data-station='logits']")
    box.focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**at=logits*")
    one.settle()
    assert "ogits" in station(page)


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


NUMBERS = """() => {
    const boxes = [...document.querySelectorAll('.st-key-walk_matrix .plain-texts text')]
        .map(node => node.getBoundingClientRect());
    const over = boxes.filter((box, i) => i && Math.abs(box.y - boxes[i - 1].y) < 4 && box.x < boxes[i - 1].right);
    return [boxes.length, over.length];
}"""


def test_numbers_of_a_wide_matrix_have_room_or_are_left_out(visit: Begin) -> None:
    one = visit().open("steps", sentence=LONG, at="encoder.layers.0.self_attention.scores", detail="exam")
    is_drawn(one, "steps")
    count, over = one.page.evaluate(NUMBERS)
    assert count > 150
    assert over == 0
    one.page.set_viewport_size({"width": 1920, "height": 1080})
    one.settle()
    assert one.page.evaluate(NUMBERS)[1] == 0


CUT = """() => [...document.querySelectorAll('.katex-display .base')].filter(part => {
    const [own, place] = [part, part.closest('[data-testid=stMarkdown]')].map(node => node.getBoundingClientRect());
    return own.left < place.left - 1 || own.right > place.right + 1;
}).length"""
OPEN = """() => document.querySelectorAll('[data-testid=stExpander] details:not([open]) > summary')
    .forEach(one => one.click())"""
FORMULAS = (
    "encoder.embedding.positions",
    "encoder.layers.0.self_attention.output",
    "encoder.layers.0.feed_forward.output",
)


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
        one.open("steps", sentence="the cat", at=station, detail="exam")
        cut(station, "1280")
        one.page.set_viewport_size({"width": 390, "height": 900})
        cut(station, "390")
    one.open("attention", sentence="the cat", written="all")
    cut("attention", "390")
    one.page.set_viewport_size({"width": 1280, "height": 900})
    cut("attention", "1280")
    one.open("hand", sentence="the cat", written="all")  # on a phone a long sum scrolls
    cut("hand", "1280")


def test_play_goes_on_by_itself_and_pauses(visit: Begin) -> None:
    one = visit().open("steps", sentence="the cat", at="encoder.embedding.tokens", detail="exam")
    is_drawn(one, "steps")
    page = one.page
    page.get_by_role("button", name="Play").click()
    page.wait_for_url("**at=encoder.embedding.scaled*")
    page.get_by_role("button", name="Pause").click()
    page.get_by_role("button", name="Play").wait_for()
    one.settle()
    held = page.url
    page.wait_for_timeout(4500)  # longer than a station is shown while playing
    assert page.url == held


DRAWS = """
let plotly;
window.draws = [];
Object.defineProperty(window, 'Plotly', {get: () => plotly, set: (given) => {
    plotly = given;
    if (!given?.react || given.watched) return;
    const react = given.react;
    given.watched = true;
    given.react = (plot, ...what) => {
        const key = plot.closest('[class*="st-key-picture_"]').className.match(/st-key-picture_(\\w+)/)[1];
        window.draws.push([key, !plot._fullLayout]);
        return react(plot, ...what);
    };
}});"""


def test_a_step_draws_each_picture_once_and_the_tensor_in_the_place_where_it_stood(visit: Begin) -> None:
    one = visit()
    one.page.add_init_script(DRAWS)
    one.open("steps", sentence="the cat sat", at="decoder.layers.0.self_attention.scores", detail="exam")
    is_drawn(one, "steps")
    matrix, tensors = ["walk_matrix"], ["tensor", "tensor_numbers"]
    for name, expected, anew in (
        *[
            (name, matrix, [])
            for name in ("self_attention.mask", "self_attention.masked_scores", "self_attention.weights")
        ],
        ("self_attention.context", ["tensor"], ["tensor"]),  # d_k 8: the numbers stand in the cells
        ("self_attention.concatenated", tensors, ["tensor_numbers"]),
        *[(f"self_attention.{name}", tensors, []) for name in ("output", "residual_sum")],
        ("self_attention.norm_out", ["norm", *tensors], ["norm"]),
        ("cross_attention.residual_in", tensors, []),
    ):
        one.page.evaluate("window.draws = []")
        one.page.locator(".st-key-next button").click()
        one.page.wait_for_url(f"**at=decoder.layers.0.{name}*")
        one.settle()
        draws = one.page.evaluate("window.draws")
        assert sorted(key for key, _ in draws) == sorted(expected), name
        assert [key for key, first in draws if first] == anew, name


def test_the_map_and_the_strip_of_pieces_are_saved_as_they_are_seen(visit: Begin) -> None:
    one = visit().open("steps", sentence="the </svg> & cat", at="pieces")
    one.settle()
    page = one.page
    seen = {
        "map": page.locator("svg.map text").all_text_contents(),
        "pieces": page.locator(".st-key-walk_pieces .chip > span:not(.text)").all_text_contents(),
    }
    page.locator(".st-key-walk_pieces .chip").first.wait_for()
    for name, texts in seen.items():
        for kind in ("SVG", "PNG"):
            with page.expect_download() as saved:
                page.locator(f".st-key-export_{name}").get_by_role("button", name=kind).click()
            content = Path(saved.value.path()).read_bytes()
            if kind == "PNG":
                assert content.startswith(b"\x89PNG")
                assert len(content) > 3000
                continue
            drawn = ElementTree.fromstring(content)
            words = [node.text for node in drawn.iter("{http://www.w3.org/2000/svg}text")]
            assert len(texts) > 5
            assert set(texts) <= set(words)
