"""Strips in a browser: keys and pointer choose a dimension, whose numbers stand beside, and nothing else moves."""

from collections.abc import Callable
from pathlib import Path

import numpy as np

from tests.browser.conftest import Visit
from transformer.analysis.trace import trace
from transformer.decoding.translator import Translator

Begin = Callable[..., Visit]
SENTENCE = "the cat sat"
SITE = "encoder.layers.0.self_attention"


def test_keys_and_pointer_choose_the_dimension_whose_sum_is_read_downwards(visit: Begin, folder: Path) -> None:
    one = visit().open("steps", sentence=SENTENCE, at=f"{SITE}.residual_sum", detail="exam", s="2", details="true")
    page = one.page
    strips = page.locator("svg.strips")
    translator = Translator.load(folder / "en-de.safetensors")
    found = translator.translate(SENTENCE).sentences[0]
    names = ("residual_in", "output", "residual_sum")
    truth = trace(translator.model, found.source_ids, found.hypotheses[0].ids, [f"{SITE}.*"]).arrays
    rows = np.stack([truth[f"{SITE}.{name}"][1] for name in names])  # (3, D)

    def shown(dimension: int) -> None:
        assert strips.get_attribute("aria-valuenow") == str(dimension)
        texts = [text.replace("−", "-") for text in strips.locator(".value").all_text_contents()]
        np.testing.assert_allclose(np.array(texts, dtype=float), rows[:, dimension], atol=6e-5)

    strips.wait_for()
    largest = int(np.abs(rows[2]).argmax())
    shown(largest)
    strips.focus()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    shown(1)
    page.keyboard.press("End")
    page.keyboard.press("ArrowRight")
    shown(rows.shape[1] - 1)
    box = strips.locator("image").first.bounding_box()
    page.mouse.move(box["x"] + 10.5 * box["width"] / rows.shape[1], box["y"] + 5)
    shown(10)
    one.settle()
    assert f"at={SITE}.residual_sum" in page.url, "the arrow keys have walked on"
    page.locator(".walk .row").nth(2).click()  # another row, in the same dimension
    page.wait_for_url("**s=3*")
    one.settle()
    rows = np.stack([truth[f"{SITE}.{name}"][2] for name in names])
    shown(10)
