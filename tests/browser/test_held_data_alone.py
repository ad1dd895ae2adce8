"""Held data alone in a browser: every number arrives exactly, and of two messages the newer one counts."""

import base64
from typing import Any

import numpy as np

from app.components.held_data import packed
from tests.support.component_alone import mount

DRAW = "message => draw(Uint8Array.from(atob(message), letter => letter.charCodeAt(0)))"
# The numbers of a tensor that is held, once they are there.
VALUES = "name => window.headlightHeld?.walk && Array.from(headlightHeld.walk[name].values)"


def sent(page: Any, **data: Any) -> None:
    page.evaluate(DRAW, base64.b64encode(packed({"holds": "walk", **data})).decode())


def test_every_number_arrives_exactly(browser: Any) -> None:
    page = browser.new_page()
    mount(page, "held_data")
    masks = np.array([[1, 0, 1]], np.uint8)  # 3 bytes: the floats after them do not begin at a multiple of 4
    tensor = np.random.default_rng(1).normal(size=(2, 3, 4)).astype(np.float32)
    tensor[0, 0, :2] = -np.inf, 1e-30
    sent(page, masks=masks, tensor=tensor, same=tensor.copy(), text="▁ä")
    page.wait_for_function(VALUES, arg="tensor")
    held: dict[str, np.ndarray] = {"masks": masks, "tensor": tensor, "same": tensor}
    for name, array in held.items():
        np.testing.assert_array_equal(np.array(page.evaluate(VALUES, name), array.dtype), array.ravel())
        assert page.evaluate("name => headlightHeld.walk[name].shape", name) == list(array.shape)
    assert page.evaluate("headlightHeld.walk.text") == "▁ä"
    page.close()


def test_a_message_that_takes_long_to_unpack_does_not_replace_a_newer_one(browser: Any) -> None:
    page = browser.new_page()
    mount(page, "held_data")
    page.evaluate("window.arrived = 0; document.addEventListener('headlight-held', () => { arrived += 1; })")
    large = base64.b64encode(packed({"holds": "walk", "tensor": np.arange(1e6, dtype=np.float32)})).decode()
    small = base64.b64encode(packed({"holds": "walk", "tensor": np.zeros(1, np.float32)})).decode()
    page.evaluate(f"messages => messages.forEach({DRAW})", [large, small])
    page.wait_for_function("() => arrived > 0")
    page.wait_for_timeout(300)
    assert page.evaluate(VALUES, "tensor") == [0]
    assert page.evaluate("arrived") == 1
    page.close()
