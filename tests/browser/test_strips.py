"""Strips in a browser: keys and pointer choose a dimension, whose numbers are shown, and nothing else moves."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tests.browser.conftest import Visit
from transformer.analysis.trace import trace
from transformer.decoding.translator import Translator

Begin = Callable[..., Visit]
SENTENCE = "the cat sat"


@pytest.mark.soak
def test_keys_and_pointer_choose_the_dimension_whose_calculation_is_read_downwards(visit: Begin, folder: Path) -> None:
    one = visit().open("residual", sentence=SENTENCE, stream="encoder", s="2", details="true")
    page = one.page
    strips = page.locator("svg.strips")
    translator = Translator.load(folder / "en-de.safetensors")
    config, found = translator.model.config, translator.translate(SENTENCE).sentences[0]
    last = f"encoder.layers.{config.encoder_layers - 1}.feed_forward"
    names = (f"{last}.residual_sum", "encoder.norm_out" if config.norm == "pre" else f"{last}.norm_out")
    truth = trace(translator.model, found.source_ids, found.hypotheses[0].ids, list(names)).arrays
    rows = np.stack([truth[name][1] for name in names])  # (2, D)

    def shown(dimension: int) -> None:
        assert strips.get_attribute("aria-valuenow") == str(dimension)
        texts = [text.replace("−", "-") for text in strips.locator(".value").all_text_contents()]
        np.testing.assert_allclose([float(texts[0]), float(texts[-1])], rows[:, dimension], atol=6e-5)

    strips.wait_for()
    shown(int(np.abs(rows[1]).argmax()))
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
