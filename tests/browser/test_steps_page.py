"""Step by step in a browser: the walk by keys and by the map, and what it draws is the tensor of the station."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from tests.browser.conftest import Visit
from tests.browser.pages import is_drawn
from transformer.decoding.translator import Translator
from transformer.trace import trace

Begin = Callable[..., Visit]
SENTENCE = "the cat sat on the mat"
CHART = """() => {
    const z = document.querySelector('.st-key-picture_tensor .js-plotly-plot')._fullData[0].z;  // as Plotly has it
    return Array.from(z._inputArray ?? z, row => Array.from(row));
}"""


def station(page: Any) -> str:
    return str(page.locator(".st-key-station h2").inner_text())


def test_the_arrow_keys_walk_and_each_picture_is_the_tensor_of_its_station(visit: Begin, folder: Path) -> None:
    one = visit().open("steps", sentence=SENTENCE, at="encoder.embedding.tokens", detail="Every step")
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


def test_play_goes_on_by_itself_and_pauses(visit: Begin) -> None:
    one = visit().open("steps", sentence="the cat", at="encoder.embedding.tokens", detail="Every step")
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
