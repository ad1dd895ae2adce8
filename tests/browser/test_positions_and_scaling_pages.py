"""Positions in a browser: it draws the tensors, and its keys work."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from tests.browser.conftest import Visit
from transformer.decoding.translator import Translator

Begin = Callable[..., Visit]
CHART = """selector => {
    const z = document.querySelector(selector + ' .js-plotly-plot')._fullData[0].z;  // as Plotly has it
    return Array.from(z._inputArray ?? z, row => Array.from(row));
}"""


def open_page(one: Visit, page: str, last: str, **address: str) -> Any:
    """Goes to a page and waits until its last picture is drawn."""
    query = "&".join(f"{name}={value}" for name, value in address.items())
    one.page.goto(f"{one.address}/{page}?{query}")
    one.page.locator(f".st-key-picture_{last} .js-plotly-plot .main-svg").first.wait_for(state="attached")
    one.settle()
    return one.page


def title(page: Any, key: str) -> str:
    return str(page.locator(f".st-key-picture_{key} .gtitle").first.text_content())


def narrow(page: Any) -> bool:
    return bool(page.locator('[data-testid="stMain"]').evaluate("n => n.scrollWidth <= n.clientWidth + 1"))


def test_positions_draws_the_table_above_the_fold_and_its_sliders_answer_to_keys(visit: Begin, folder: Path) -> None:
    one = visit(dark=True)
    page = open_page(one, "positions", "sum")
    drawn = np.array(page.evaluate(CHART, ".st-key-picture_encoding"), dtype=np.float32)
    table = Translator.load(folder / "en-de.safetensors").model.encoder.embedding.positions.table
    assert np.array_equal(drawn, table[: len(drawn)].numpy())
    assert page.locator(".st-key-picture_encoding .hm image").bounding_box()["y"] < 600
    before = title(page, "wave")
    slider = page.get_by_role("slider", name="Dimension")
    slider.focus()
    page.keyboard.press("ArrowRight")
    page.locator(".st-key-picture_wave .gtitle", has_text="Dimension 9: cos").wait_for()
    assert before.startswith("Dimension 8: sin")
    page.get_by_role("slider", name="Offset k").focus()
    page.keyboard.press("ArrowRight")
    page.locator(".st-key-picture_rotation .gtitle", has_text="From PE(4) to PE(10)").wait_for()
    assert narrow(page)
