"""From an arc to the calculation by hand: the links stay in their places, and the numbers can be read and checked."""

import base64
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import pytest
from playwright.sync_api import expect

from app.components.bundles import IMPORT
from app.components.canvas import Head, Question
from app.figures.canvas_message import message_id, packed
from app.figures.shares import decimal_text, probability_text, weight_text
from app.stage.canvas_of_scene import message_of
from app.stage.scene import Scene
from app.views.shared.canvas_picture import answer
from tests.app.test_shares import SHARES
from tests.browser.conftest import PATIENCE, Visit
from tests.support.app_checkpoints import write_checkpoint
from tests.support.canvas_alone import KEY, MOUNT, QUERY, SENTENCE, parts_of, scene_with
from tests.support.drawn import unpacked_canvas

Begin = Callable[..., Visit]
NUMBERS = Path(__file__).resolve().parents[2] / "app" / "components" / "shared" / "numbers.js"

# The server answers with this calculation for the words 2 and 3, whatever is asked.
ANSWER = """([message, calculation]) => {
    const line = window.headlightCanvases.get(message);
    const state = {message, chosen: {kind: 'cross', layer: 0, head: 0}, received: 0, acts: true, alternatives: [],
        shown: 0, canUndo: false, writes: false, below: 3, form: 'arcs', formName: 'form', pinned: [1, 2, true]};
    line.send = ({id, asks}) => setTimeout(() =>
        line.received({...state, answer: {id, answer: asks === 'cell' ? calculation : {weights: ''}}}));
    line.state = state;
    line.received?.(state);
}"""


STILL = """node => new Promise(done => {
    let before = null;
    const look = () => {
        const { x, y } = node.getBoundingClientRect(), now = [Math.round(x), Math.round(y)];
        if (!node.isConnected) done(null);
        else if (String(now) === String(before)) done(now);
        else { before = now; setTimeout(look, 50); }
    };
    look();
})"""


def place(locator: Any) -> tuple[float, float]:
    """Where it is as soon as it moves no more; a part that an answer replaces meanwhile is looked at again."""
    found = None
    while found is None:
        found = locator.evaluate(STILL)
    return found[0], found[1]


@pytest.mark.soak
@pytest.mark.parametrize(("width", "height"), [(1280, 720), (390, 844)])
def test_the_links_to_the_calculation_stay_in_their_places(visit: Begin, width: int, height: int) -> None:
    one = visit(width=width, height=height).open(sentence=SENTENCE, layer="2", head="3")
    page = one.page
    page.locator(QUERY).nth(1).click()
    page.locator(KEY).nth(2).click()
    page.locator(".linked .number", has_text="%").first.wait_for()
    heads, link = page.locator(".head"), page.locator(".facts button.link")
    places, has_place = set(), set()
    for index in range(heads.count()):
        heads.nth(index).evaluate("node => node.click()")
        expect(heads.nth(index)).to_have_attribute("aria-checked", "true")
        places.add(tuple(np.subtract(place(link), place(page.locator(".facts")))))
        has_place.add("place" in page.locator(".facts").inner_text())
    assert has_place == {True, False}  # of some heads there is another line
    assert len(places) == 1
    places = set()
    for index in (0, 5, heads.count() - 1):
        heads.nth(index).evaluate("node => node.click()")
        page.locator(".facts button.link").click()
        asked = place(page.locator(".computed button.link"))
        page.locator(".computed .steps").wait_for()
        places |= {asked, place(page.locator(".computed button.link"))}
        page.locator(".computed .close").click()
    assert len(places) == 1


# The server has the words 2 and 3 and their calculation as open; it answers nothing until `tell` is called.
STAND = """message => {
    const state = {message, chosen: {kind: 'cross', layer: 0, head: 0}, received: 0, acts: true, alternatives: [],
        shown: 0, canUndo: false, writes: false, below: 3, form: 'arcs', formName: 'form', pinned: [1, 2, true]};
    const line = window.headlightCanvases.get(message);
    window.asked ??= [];
    line.send = question => asked.push(question);
    line.state = state;
    window.tell = answer => line.received({...state, answer});
    line.received?.(state);
}"""


@pytest.fixture
def computed(browser: Any, tmp_path: Path) -> Any:
    """The calculation of a weight of 0.99995 among three keys, with four dimensions."""
    scene = scene_with(write_checkpoint(tmp_path / "one.safetensors"))
    page = browser.new_page()
    page.set_default_timeout(PATIENCE)
    page.set_viewport_size({"width": 1280, "height": 720})
    page.set_content("<!doctype html><body></body>")
    page.evaluate(MOUNT, parts_of(scene))
    keys = len(scene.source)
    weights = np.full(keys, 0.00005 / (keys - 1))
    weights[2] = 0.99995
    calculation = {
        "product": 2.0, "width": 4, "scores": (1 + np.log(weights)).tolist(), "weights": weights.tolist(),
        "query": [1.0, -2.0, 0.5, 3.0], "keyVector": [2.0, 1.0, -2.0, 1.0], "value": [1.0, -1.0, 0.5, 0.0],
        "added": 1.5, "context": 1.5,
    }  # fmt: skip
    page.evaluate(ANSWER, [message_id(message_of(scene)), calculation])
    page.locator(".computed .steps").wait_for()
    yield page.locator(".computed")
    page.close()


def calculation_of(scene: Scene, query: int, key: int) -> dict[str, Any]:
    found = answer(scene, Question("cell", Head("cross", 0, 0), query, key))
    assert found
    return found


@pytest.fixture
def lossy(browser: Any, tmp_path: Path) -> Iterator[tuple[Any, Scene]]:
    """A canvas that opens a calculation; the clock is the test's, and `window.asked` has the questions."""
    scene = scene_with(write_checkpoint(tmp_path / "one.safetensors"))
    page = browser.new_page()
    page.set_default_timeout(PATIENCE)
    page.set_viewport_size({"width": 1280, "height": 720})
    page.clock.install()
    page.set_content("<!doctype html><body></body>")
    page.evaluate(MOUNT, parts_of(scene))
    page.evaluate(STAND, message_id(message_of(scene)))
    page.clock.run_for(1000)
    yield page, scene
    page.close()


def asked_for(page: Any, message: str) -> list[str]:
    """The questions about the calculation in this message, by their ids."""
    return [one["id"] for one in page.evaluate("asked") if one["asks"] == "cell" and one["message"] == message]


@pytest.mark.soak
def test_a_question_that_gets_lost_is_asked_again(lossy: tuple[Any, Scene]) -> None:
    page, scene = lossy
    page.clock.run_for(120_000)
    ids = asked_for(page, message_id(message_of(scene)))
    assert 2 <= len(ids) <= 6, ids  # and not for ever
    page.evaluate("found => tell(found)", {"id": ids[0], "answer": calculation_of(scene, 1, 2)})
    expect(page.locator(".computed .steps")).to_be_visible()


@pytest.mark.soak
def test_an_answer_that_comes_late_is_taken(lossy: tuple[Any, Scene]) -> None:
    """When the canvas already waits for the answer to another question."""
    page, scene = lossy
    page.clock.run_for(8000)
    (cell,) = asked_for(page, message_id(message_of(scene)))
    assert page.evaluate("asked").pop()["id"] != cell
    page.evaluate("found => tell(found)", {"id": cell, "answer": calculation_of(scene, 1, 2)})
    expect(page.locator(".computed .steps")).to_be_visible()
    page.clock.run_for(60_000)
    assert asked_for(page, message_id(message_of(scene))) == [cell]


@pytest.mark.soak
def test_a_calculation_stays_open_when_the_numbers_of_the_same_words_change(lossy: tuple[Any, Scene]) -> None:
    """As where the page replaces the stored first picture, whose last digits may differ from those of this machine."""
    page, scene = lossy
    expect(page.locator(".computed")).to_be_visible()
    header, weights, masks = unpacked_canvas(message_of(scene))
    header["target"]["probabilities"][0] = 0.123456
    other = packed(header, [*weights.values(), *masks.values()])
    page.evaluate("bytes => again(bytes)", base64.b64encode(other).decode())
    page.evaluate(STAND, message_id(other))
    page.clock.run_for(5000)
    expect(page.locator(".computed")).to_be_visible()
    (cell,) = asked_for(page, message_id(other))
    page.evaluate("found => tell(found)", {"id": cell, "answer": calculation_of(scene, 1, 2)})
    expect(page.locator(".computed .steps")).to_be_visible()


@pytest.mark.soak
def test_a_weight_that_is_not_1_does_not_read_100_per_cent(computed: Any) -> None:
    expect(computed.locator(".score.this .number").last).to_have_text("99.995%")
    expect(computed).to_contain_text("Adds 99.995% times the value")
    assert "100%" not in computed.inner_text().replace("the rest of the 100%", "")


@pytest.mark.soak
def test_the_terms_of_the_dot_product_can_be_read_without_colour(computed: Any) -> None:
    bars = computed.locator(".strip").first
    assert bars.locator("span").all_inner_texts() == ["+", "−"]
    heights = bars.evaluate(
        """strip => { const box = strip.getBoundingClientRect(), middle = box.top + box.height / 2;
            return [...strip.querySelectorAll('i')].map(bar => { const { top, bottom } = bar.getBoundingClientRect();
                return (middle - top > bottom - middle ? 1 : -1) * (bottom - top) / box.height; }); }"""
    )
    assert heights == pytest.approx([term / 6 for term in (2.0, -2.0, -1.0, 3.0)], abs=0.02)
    caption = computed.locator("figure").first.locator("figcaption")
    expect(caption).to_contain_text("Its 4 terms: each number of the query of")
    expect(caption.locator("div")).to_have_text("q3·k3 = 3.00, q0·k0 = 2.00, q1·k1 = −2.00")
    assert caption.locator("sub").count() == 6


@pytest.mark.soak
def test_the_root_of_d_k_is_typeset(computed: Any) -> None:
    step = computed.locator(".steps li").nth(1)
    assert step.locator(".under").all_inner_texts() == ["dk", "4"]
    expect(step.locator(".under sub")).to_have_text("k")
    expect(step).to_have_text("Divided by √dk = √4 = 2.00: score 1.00")


@pytest.mark.soak
def test_the_browser_writes_shares_as_python_does(browser: Any) -> None:
    module = f"data:text/javascript,{quote(IMPORT.sub('', NUMBERS.read_text(encoding='utf-8')))}"
    page = browser.new_page()
    page.goto("about:blank")
    texts = page.evaluate(
        """async ([module, shares]) => {
            const { cellText, decimal, percent } = await import(module);
            return shares.map(share => [percent(share), percent(share, 3), percent(share, 1, 0), percent(share, 0),
                decimal(share), decimal(share, 4), cellText(share, '·')]);
        }""",
        [module, SHARES],
    )
    page.close()
    for share, written in zip(SHARES, texts, strict=True):
        assert written == [
            probability_text(share),
            probability_text(share, 3),
            probability_text(share, 1, 0),
            probability_text(share, 0),
            decimal_text(share),
            decimal_text(share, 4),
            weight_text(share),
        ]
