"""Scaling and softmax in a browser: its arithmetic is that of torch, and the slider and the words need no server."""

from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import pytest
import torch

from app.views.scaling.large_scores import growing_products
from app.views.scaling.softmax_message import widths_of
from tests.browser.conftest import Visit, chosen_in
from tests.support.browser_pages import is_drawn
from transformer.analysis.trace import trace
from transformer.decoding.translator import Translator
from transformer.model.attention_kinds import SITES

Begin = Callable[..., Visit]
SENTENCE = "the cat sat on the mat"
ARITHMETIC = Path(__file__).resolve().parents[2] / "app" / "components" / "softmax_scene" / "arithmetic.js"

# The weights of both panels. The slider is moved first, or a word is clicked, and the weights are there in the same
# turn of the browser, in which no message can have come.
WEIGHTS = """([width, word]) => {
    const root = [...document.querySelectorAll('.st-key-softmax_scene *')].find(node => node.shadowRoot).shadowRoot;
    const slider = root.querySelector('.slider');
    if (width !== null) { slider.value = width; slider.dispatchEvent(new Event('input', {bubbles: true})); }
    if (word !== null) root.querySelectorAll('.words button')[word].click();
    return [...root.querySelectorAll('.panel')].map(panel =>
        [...panel.querySelectorAll('.share')].map(bar => Number(bar.dataset.weight)));
}"""


def test_the_browser_s_softmax_is_that_of_torch(visit: Begin) -> None:
    scores = [*np.random.default_rng(0).normal(scale=9, size=(5, 12)), np.full(4, 800.0), np.array([-3.0])]
    module = f"data:text/javascript,{quote(ARITHMETIC.read_text(encoding='utf-8'))}"
    page = visit().page
    page.goto("about:blank")
    found = page.evaluate(
        """async ([module, rows]) => {
            const { softmax, spreadOf, gradientOf } = await import(module);
            return rows.map(softmax).map(weights => [weights, spreadOf(weights), gradientOf(weights)]);
        }""",
        [module, [row.tolist() for row in scores]],
    )
    for row, (weights, spread, gradient) in zip(map(torch.tensor, scores), found, strict=True):
        truth = row.softmax(-1)
        np.testing.assert_allclose(weights, truth.numpy(), rtol=1e-12)
        assert spread == pytest.approx(float(torch.distributions.Categorical(truth).entropy().exp()), rel=1e-5)
        jacobian = torch.autograd.functional.jacobian(lambda s: s.softmax(-1), row)
        assert gradient == pytest.approx(float(jacobian.norm()), abs=1e-7)
    masked = page.evaluate(
        "async module => { const { softmax } = await import(module); return [[1, null, 2], [null]].map(softmax); }",
        module,
    )
    np.testing.assert_allclose(masked[0], torch.tensor([1.0, -torch.inf, 2.0]).softmax(-1), rtol=1e-6)
    assert masked[1] == [0]


@pytest.mark.soak
def test_the_slider_changes_both_distributions_at_once_and_the_details_follow(visit: Begin) -> None:
    one = visit().open("scaling", sentence=SENTENCE, d_k="64", details="true")
    is_drawn(one, "scaling")
    page, widths = one.page, widths_of(8)
    products = torch.tensor(growing_products(widths))
    for width in (None, len(widths) - 1, 0):
        at = widths.index(64) if width is None else width
        without, divided = page.evaluate(WEIGHTS, [width, None])
        np.testing.assert_allclose(without, products[at].softmax(-1), atol=1e-9)
        np.testing.assert_allclose(divided, (products[at] / widths[at] ** 0.5).softmax(-1), atol=1e-9)
    slider = page.get_by_role("slider", name="d_k")
    slider.focus()
    page.keyboard.press("ArrowRight")
    assert slider.get_attribute("aria-valuetext") == "d_k = 2"
    page.locator(".st-key-picture_histogram .gtitle", has_text="d_k = 2").wait_for()
    assert chosen_in(page)["d_k"] == ["2"]
    page.get_by_role("button", name="This checkpoint").click()
    assert slider.get_attribute("aria-valuetext") == "d_k = 8"


@pytest.mark.soak
def test_the_reader_s_words_have_the_weights_of_the_model(visit: Begin, folder: Path) -> None:
    one = visit().open("scaling", sentence=SENTENCE, kind="decoder", layer="2", head="3", t="2")
    is_drawn(one, "scaling")
    translator = Translator.load(folder / "en-de.safetensors")
    found = translator.translate(SENTENCE).sentences[0]
    site = SITES["decoder"].format(1)
    truth: dict[str, Any] = trace(translator.model, found.source_ids, found.hypotheses[0].ids, [f"{site}.*"]).arrays
    one.page.get_by_role("radio", name="Your words").click()
    for word, query in ((None, 1), (3, 3)):
        without, divided = one.page.evaluate(WEIGHTS, [None, word])
        np.testing.assert_allclose(divided, truth[f"{site}.weights"][2][query], atol=1e-6)
        masked = torch.tensor(truth[f"{site}.products"][2][query]).masked_fill(
            ~torch.tensor(truth[f"{site}.mask"][2][query]), -torch.inf
        )
        np.testing.assert_allclose(without, masked.softmax(-1), atol=1e-5)
    one.settle()
    assert chosen_in(one.page)["t"] == ["4"]
    assert one.page.get_by_role("radio", name="Your words").get_attribute("aria-checked") == "true"
    one.page.reload()  # as whoever opens the link
    is_drawn(one, "scaling")
    assert one.page.get_by_role("radio", name="Your words").get_attribute("aria-checked") == "true"
    one.page.get_by_role("radio", name="Random vectors").click()
    one.settle()
    assert "scores_of" not in chosen_in(one.page)


@pytest.mark.soak
def test_a_fully_masked_row_attends_to_no_key(visit: Begin) -> None:
    edits = "forbid=decoder.all.all.1.1"
    one = visit().open("scaling", sentence=SENTENCE, kind="decoder", layer="2", head="3", t="1", edits=edits)
    is_drawn(one, "scaling")
    one.page.get_by_role("radio", name="Your words").click()
    assert one.page.locator(".fact").all_inner_texts() == ["This row is fully masked: its weights are all 0.", ""] * 2
    largest = "Without the division, the largest weight is 0; with it, 0."
    assert one.page.locator(".st-key-softmax_scene .sentence").inner_text() == largest
    one.page.locator(".words button").nth(1).click()
    assert one.page.locator(".fact").first.inner_text().startswith("In effect, the query attends to ")


@pytest.mark.soak
def test_on_a_phone_nothing_is_wider_than_the_screen(visit: Begin) -> None:
    one = visit(width=390, height=844).open("scaling", sentence=f"{SENTENCE} and extraordinarily")
    is_drawn(one, "scaling")
    page = one.page
    assert page.locator('[data-testid="stMain"]').evaluate("n => n.scrollWidth <= n.clientWidth + 1")
    picture = page.locator(".st-key-softmax_scene svg").first.bounding_box()
    assert picture["y"] + picture["height"] < 700
    for button in page.locator(".st-key-softmax_scene button").all():
        assert button.bounding_box()["height"] >= 43.9
    page.get_by_role("radio", name="Your words").click()
    lowest = max(name.bounding_box()["y"] + name.bounding_box()["height"] for name in page.locator("svg .name").all())
    assert lowest <= page.locator(".fact").first.bounding_box()["y"] + 1  # slanted words do not reach into the text
