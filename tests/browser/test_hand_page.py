"""Query, key, value in a browser: the scene shows the tensors at each step, by clicks and by keys, without the server.

What is chosen in it is chosen on the whole page."""

from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import pytest

from app.components.bundles import IMPORT
from tests.browser.conftest import Visit, chosen_in
from tests.support.browser_pages import is_drawn
from transformer.analysis.trace import trace
from transformer.decoding.translator import Translator
from transformer.model.attention_kinds import SITES, Kind

Begin = Callable[..., Visit]
SENTENCE = "the cat sat on the mat"
NUMBERS = Path(__file__).resolve().parents[2] / "app" / "components" / "query_scene" / "numbers.js"

# The numbers in the rows, a list a key: q·k, score, weight. A word is clicked first, and its numbers are there in the
# same turn of the browser, in which no message can have come.
SHOWN = """([scene, word]) => {
    const root = [...document.querySelectorAll(`${scene} *`)].find(node => node.shadowRoot).shadowRoot;
    if (word !== null) root.querySelectorAll('.words button')[word].click();
    return [...root.querySelectorAll('.row')].map(row => ['.of1', '.of2', '.of3'].map(
        part => row.querySelector(part + ' .number').textContent.replace('−', '-')));
}"""


@pytest.fixture(scope="module")
def tensors(folder: Path) -> Callable[[Kind, int, int], dict[str, np.ndarray]]:
    """The tensors of a head, layer and head from 0, computed beside the app."""
    translator = Translator.load(folder / "en-de.safetensors")
    found = translator.translate(SENTENCE).sentences[0]

    def of(kind: Kind, layer: int, head: int) -> dict[str, np.ndarray]:
        site = SITES[kind].format(layer)
        arrays = trace(translator.model, found.source_ids, found.hypotheses[0].ids, [f"{site}.*"]).arrays
        names = ("query", "key", "value", "products", "scores", "mask", "weights", "context")
        return {name: arrays[f"{site}.{name}"][head] for name in names}

    return of


def opened(visit: Begin, address: dict[str, str], calm: bool = True) -> Visit:
    """The page; where motion is not wanted, the whole calculation is there at once."""
    one = visit()
    if calm:
        one.page.emulate_media(reduced_motion="reduce")
    one.open("hand", **{"sentence": SENTENCE, "layer": "2", "head": "3", **address})
    is_drawn(one, "hand")
    return one


def agree(shown: list[list[str]], truth: dict[str, np.ndarray], query: int) -> None:
    """The numbers of all rows are those of the tensors, to the last digit that is written."""
    assert len(shown) == truth["mask"].shape[1]
    for key, (product, score, weight) in enumerate(shown):
        for text, name in ((product, "products"), (score, "scores")):
            last = 10.0 ** -len(text.partition(".")[2])
            assert float(text) == pytest.approx(float(truth[name][query, key]), abs=0.501 * last)
        if not truth["mask"][query, key]:
            assert weight == "0"
        elif weight == "<0.001":
            assert truth["weights"][query, key] < 0.0005
        else:
            assert float(weight) == pytest.approx(float(truth["weights"][query, key]), abs=0.000501)


@pytest.mark.parametrize(
    ("kind", "place"),
    [("cross", {"t": "2"}), pytest.param("encoder", {"s": "4"}, marks=pytest.mark.soak), ("decoder", {"t": "3"})],
)
def test_the_scene_shows_the_tensors_of_each_word_that_is_clicked_at_once(
    visit: Begin, tensors: Any, kind: Kind, place: dict[str, str]
) -> None:
    one = opened(visit, {"kind": kind, **place})
    truth = tensors(kind, 1, 2)
    (first,) = (int(number) - 1 for number in place.values())
    agree(one.page.evaluate(SHOWN, [".st-key-query_scene", None]), truth, first)
    agree(one.page.evaluate(SHOWN, [".st-key-query_scene", 4]), truth, 4)
    one.settle()
    assert chosen_in(one.page)["t" if kind != "encoder" else "s"] == ["5"]
    strongest = int(truth["weights"][4].argmax())
    assert ("s" if kind == "cross" else "k") not in chosen_in(one.page)  # the key follows the query
    assert one.page.locator(".rows").get_attribute("aria-valuenow") == str(strongest + 1)


def test_the_browser_s_own_products_and_sums_are_those_of_the_model(visit: Begin, tensors: Any) -> None:
    truth = tensors("cross", 1, 2)
    own = IMPORT.sub("", NUMBERS.read_text(encoding="utf-8"))  # what is imported is for other functions
    module = f"data:text/javascript,{quote(own)}"
    page = visit().page
    page.goto("about:blank")
    q, keys, values, weights = (truth[name].tolist() for name in ("query", "key", "value", "weights"))
    terms, added = page.evaluate(
        """async ([module, q, keys, values, weights]) => {
            const { termsOf, weighted } = await import(module);
            const add = (a, b) => a.map((value, i) => value + b[i]);
            return [keys.map(key => [...termsOf(q, key)]),
                values.map((value, j) => [...weighted(value, weights[j])]).reduce(add)];
        }""",
        [module, q[1], keys, values, weights[1]],
    )
    np.testing.assert_allclose(terms, truth["query"][1].astype(np.float64) * truth["key"], rtol=1e-12)
    np.testing.assert_allclose(np.sum(terms, axis=1), truth["products"][1], rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(added, truth["context"][1], rtol=1e-4, atol=1e-5)


def test_it_plays_when_opened_and_keys_walk_through_steps_and_keys(visit: Begin) -> None:
    one = opened(visit, {"kind": "cross", "t": "2"}, calm=False)
    page = one.page
    step = page.locator('.step[aria-current="step"]')
    page.get_by_role("button", name="Pause").click()
    assert (step.get_attribute("aria-label") or "").startswith("Step 1")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert (step.get_attribute("aria-label") or "").startswith("Step 3")
    page.keyboard.press("ArrowLeft")
    assert (step.get_attribute("aria-label") or "").startswith("Step 2")
    assert page.get_by_role("button", name="Play").is_visible()
    page.get_by_role("slider", name="Key").focus()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    one.settle()
    assert page.locator(".rows").get_attribute("aria-valuenow") == "3"
    assert chosen_in(page)["s"] == ["3"]
    page.get_by_role("radio", checked=True, name="2:").focus()
    page.keyboard.press("ArrowRight")
    one.settle()
    assert chosen_in(page)["t"] == ["3"]
    assert (step.get_attribute("aria-label") or "").startswith("Step 2")  # these keys were for the words


@pytest.mark.soak
@pytest.mark.parametrize(
    ("edit", "says"),
    [
        ("uniform=decoder.2.3", "An edit changes the scores of this head before the softmax; “<s>” gets 1."),
        ("forbid=decoder.all.all.1.1", "This row is fully masked: all its weights are 0, and so is the output."),
    ],
)
def test_the_third_step_says_what_an_edit_changes(visit: Begin, edit: str, says: str) -> None:
    one = opened(visit, {"kind": "decoder", "t": "1", "k": "1", "edits": edit})
    one.page.get_by_role("button", name="Step 3").click()
    assert one.page.locator(".sentence").inner_text() == says


@pytest.mark.soak
def test_the_sentence_of_a_step_is_not_cut_in_french(visit: Begin) -> None:
    one = visit(height=720)
    one.page.emulate_media(reduced_motion="reduce")
    one.open("hand", sentence=SENTENCE, kind="decoder", layer="2", head="3", t="2", k="5", lang="fr")
    is_drawn(one, "hand")
    one.page.locator(".step").nth(2).click()
    sentence = one.page.locator(".st-key-query_scene .sentence")
    assert "−∞" in sentence.inner_text()
    assert sentence.evaluate("node => node.scrollHeight <= node.clientHeight + 1")


@pytest.mark.soak
def test_opened_for_one_weight_the_calculation_is_finished_and_can_be_played_again(visit: Begin, tensors: Any) -> None:
    one = opened(visit, {"kind": "cross", "t": "2", "s": "3"}, calm=False)
    agree(one.page.evaluate(SHOWN, [".st-key-query_scene", None]), tensors("cross", 1, 2), 1)
    step = one.page.locator('.step[aria-current="step"]')
    assert (step.get_attribute("aria-label") or "").startswith("Step 4")
    one.page.get_by_role("button", name="Play").click()
    one.page.get_by_role("button", name="Pause").wait_for()
    assert (step.get_attribute("aria-label") or "").startswith("Step 1")


@pytest.mark.soak
def test_on_a_phone_each_step_has_its_columns_and_the_buttons_are_large_enough(visit: Begin) -> None:
    one = visit(width=390, height=844)
    one.page.emulate_media(reduced_motion="reduce")
    one.open("hand", sentence=SENTENCE, kind="decoder", t="3")
    is_drawn(one, "hand")
    page = one.page
    seen = {1: (True, False, False), 2: (True, True, False), 3: (False, True, True), 4: (False, False, True)}
    for step, columns in seen.items():
        page.get_by_role("button", name=f"Step {step}").click()
        row = page.locator(".row").first
        assert tuple(row.locator(f".of{n} .number").count() == 1 for n in (1, 2, 3)) == columns
        assert page.locator('[data-testid="stMain"]').evaluate("n => n.scrollWidth <= n.clientWidth + 1")
    for button in page.locator(".stage button").all():
        assert button.bounding_box()["height"] >= 43.9


@pytest.mark.soak
def test_the_calculation_is_copied_as_numpy_by_a_button_and_by_keys(visit: Begin) -> None:
    one = visit(clipboard=True).open("hand", sentence=SENTENCE, kind="cross", t="2", s="3", details="true")
    is_drawn(one, "hand")
    button = one.page.get_by_role("button", name="Copy as NumPy")
    one.page.get_by_role("button", name="Strongest key").focus()
    one.page.keyboard.press("Tab")
    assert button.evaluate("b => b.getRootNode().activeElement === b")
    one.page.keyboard.press("Enter")
    one.page.get_by_text("Copied.").wait_for()
    copied = one.page.evaluate("navigator.clipboard.readText()")
    assert "# Query 2 of" in copied
    assert "# Key 3 of" in copied
    compile(copied, "snippet", "exec")


@pytest.mark.soak
def test_where_the_clipboard_is_closed_the_calculation_can_be_copied_by_hand(visit: Begin) -> None:
    one = visit()
    one.before_its_scripts("navigator.clipboard.writeText = () => Promise.reject(new Error('closed'))")
    one.open("hand", sentence=SENTENCE, details="true")
    one.page.get_by_role("button", name="Copy as NumPy").click()
    box = one.page.locator(".st-key-copy_numpy textarea")
    box.wait_for()
    compile(box.input_value(), "snippet", "exec")
    assert box.evaluate("b => b.selectionEnd - b.selectionStart === b.value.length")


def test_a_page_that_was_left_takes_no_keys(visit: Begin) -> None:
    """A choice runs the script again, and Streamlit ends only what the last run has begun."""
    one = opened(visit, {"kind": "cross", "t": "1"})
    for word in (1, 2):
        one.page.locator(".st-key-picture_query_scene .words button").nth(word).click()
        one.page.wait_for_url(f"**t={word + 1}*")
        one.settle()
    one.follow("Decoding")
    is_drawn(one, "decoding")
    one.page.keyboard.press("ArrowLeft")
    one.page.wait_for_url("**t=2*")
