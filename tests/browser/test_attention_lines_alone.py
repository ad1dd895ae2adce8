"""Attention as lines alone in a browser: keys that the picture does not use stay those of the page."""

from typing import Any

import numpy as np

from app.figures.attention_lines import attention_lines
from app.figures.axes import TokenAxis
from tests.support.component_alone import draw, mount


def test_escape_unpins_a_token_and_is_otherwise_left_to_the_page(browser: Any) -> None:
    axis = TokenAxis("English", "encoder", ("a", "b"))
    page = browser.new_page()
    mount(page, "attention_lines")
    draw(page, attention_lines(np.full((2, 2), 0.5), axis, axis, title="Lines", alt="Lines") | {"reports": False})
    page.evaluate("() => { window.escapes = 0; document.addEventListener('keydown', () => { escapes += 1; }); }")
    token = page.locator(".token").first
    token.focus()
    page.keyboard.press("Escape")
    assert page.evaluate("escapes") == 1
    page.keyboard.press("Enter")
    page.keyboard.press("Escape")
    assert page.evaluate("escapes") == 1
    assert token.get_attribute("aria-pressed") == "false"
    page.close()
