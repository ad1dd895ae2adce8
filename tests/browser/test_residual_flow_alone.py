"""The stream of a token alone in a browser: its rows have the colours of the vectors."""

import base64
from typing import Any

import numpy as np
import pytest

from app.components.held_data import packed
from app.figures.axes import TokenAxis
from app.views.residual.flow import COLORS, flow, vectors
from app.views.residual.stream import Stream, sub_layers
from tests.support.component_alone import draw, mount, sent

STATE = {"scene": "one", "stack": "encoder", "row": 0, "part": -1, "off": [], "received": 0}
BLACK, WHITE = ([place, f"light-dark({color}, {color})"] for place, color in ((0, "#000000"), (1, "#ffffff")))
HOLD = "message => draw(Uint8Array.from(atob(message), letter => letter.charCodeAt(0)))"
# The grey values of each row of colours, from top to bottom.
GREYS = """async () => {
    const rows = [];
    for (const image of document.querySelectorAll("svg.flow-picture image")) {
        const bitmap = await createImageBitmap(await (await fetch(image.getAttribute("href"))).blob());
        const canvas = new OffscreenCanvas(bitmap.width, 1), context = canvas.getContext("2d");
        context.drawImage(bitmap, 0, 0);
        rows.push(Array.from(context.getImageData(0, 0, bitmap.width, 1).data).filter((value, i) => i % 4 === 0));
    }
    return rows;
}"""


def random_stream() -> Stream:
    """The stream of three tokens through one layer."""
    subs, numbers = sub_layers("encoder", 1), np.random.default_rng(1)
    before, added, normed = numbers.normal(size=(3, 2, 3, 50)).astype(np.float32)  # (U, R, D)
    before[1] = before[0] + added[0]
    return Stream(
        subs, before, added, before + added, before, normed, before[0], (True, True), np.zeros((3, 3), dtype=bool)
    )


def standing(browser: Any, every: Stream, *, pre_norm: bool) -> tuple[Any, dict[str, Any]]:
    """A page on which the component can be drawn, and the data that it holds."""
    tokens = TokenAxis("English", "encoder", ("a", "b", "c"))
    data = flow({"encoder": (every, tokens)}, {}, pre_norm=pre_norm, starts={"encoder": ["a", "b", "c"]})
    data["stacks"]["decoder"] = data["stacks"]["encoder"]
    page = browser.new_page()
    mount(page, "held_data")
    message = packed(data | {"holds": "flow", "scene": "one", "scale": [BLACK, WHITE]})
    page.evaluate(HOLD, base64.b64encode(message).decode())
    page.wait_for_function("() => window.headlightHeld?.flow")
    mount(page, "residual_flow", ".root { height: 400px; display: grid } .frame { height: 300px }")
    return page, data


@pytest.mark.parametrize("pre_norm", [True, False])
def test_each_row_has_the_colours_of_its_vector(browser: Any, pre_norm: bool) -> None:
    every, row = random_stream(), 1
    page, data = standing(browser, every, pre_norm=pre_norm)
    draw(page, STATE | {"row": row})
    start, *rows = page.evaluate(GREYS)
    stream = vectors(every, pre_norm=pre_norm)[:, row]
    limit = data["stacks"]["encoder"]["limits"][row]
    drawn = [start, *rows[1::2]], rows[::2]
    for colors, values in zip(drawn, (stream, every.added[:, row]), strict=True):
        shown = (np.array(colors) * 2 / (COLORS - 1) - 1) * limit
        np.testing.assert_allclose(shown, np.clip(values, -limit, limit), atol=1.01 * limit / (COLORS - 1))
    page.close()


def test_a_choice_stays_until_the_page_has_it_and_is_forgotten_in_a_new_session(browser: Any) -> None:
    page, _data = standing(browser, random_stream(), pre_norm=True)

    def chosen() -> list[str]:
        return [each.get_attribute("aria-checked") for each in page.locator("svg.flow-picture .part").all()]

    draw(page, STATE | {"part": 0})
    page.locator("svg.flow-picture .part").nth(1).click()
    draw(page, STATE | {"part": 0})  # the page has not received it yet
    assert chosen() == ["false", "true"]
    (sent_now,) = sent(page)
    draw(page, STATE | {"part": 1, "received": sent_now["number"]})
    page.locator("svg.flow-picture .part").nth(1).click()
    draw(page, STATE | {"part": 0, "received": 0})  # the server was started again: it has received nothing
    assert chosen() == ["true", "false"]
    page.close()
