"""Positions in a browser: it draws the tensors, and its keys work."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

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


@pytest.mark.soak
def test_positions_draws_the_table_and_its_sliders_answer_to_keys(visit: Begin, folder: Path) -> None:
    one = visit(dark=True)
    page = open_page(one, "positions", "sum", details="true")
    drawn = np.array(page.evaluate(CHART, ".st-key-picture_encoding"), dtype=np.float32)
    table = Translator.load(folder / "en-de.safetensors").model.encoder.embedding.positions.table
    assert np.array_equal(drawn, table[: len(drawn)].numpy())
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


ORDER = """() => {
    const root = [...document.querySelectorAll('.st-key-order *')].find(node => node.shadowRoot).shadowRoot;
    const drawn = [...root.querySelectorAll('.token')].map(node => {
        const {x, y} = node.getBoundingClientRect();
        return {token: Number(node.dataset.token), x, y: Math.round(y)};
    });
    const rows = [...new Set(drawn.map(({y}) => y))].sort((a, b) => a - b);
    const row = y => drawn.filter(each => each.y === y).sort((a, b) => a.x - b.x).map(({token}) => token);
    return rows.map(row);
}"""


@pytest.mark.soak
def test_words_are_shuffled_again_and_read_by_keys(visit: Begin) -> None:
    one = visit().open("positions", sentence="the cat sat on the mat", shuffle="2")
    page = one.page
    page.locator(".st-key-order svg.picture").wait_for()
    before = page.evaluate(ORDER)
    assert before[0] == sorted(before[1])
    with one.running():
        page.get_by_role("button", name="Shuffle again").click()
    page.wait_for_timeout(400)  # tokens move for 0.3 s
    after = page.evaluate(ORDER)
    assert after[0] == before[0]
    assert after[1] != before[1]
    status = page.locator(".st-key-order .status")
    page.locator(".st-key-order svg.picture").focus()
    for _ in after[1]:
        page.keyboard.press("ArrowRight")
    assert "“</s>” stays at position" in status.inner_text()
