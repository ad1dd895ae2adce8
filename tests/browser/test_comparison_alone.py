"""A table of results alone in a browser: a long translation is cut and fades, but keys can scroll it."""

from typing import Any

from playwright.sync_api import expect

from tests.support.component_alone import draw, mount


def test_only_a_text_that_is_cut_fades_and_can_have_the_focus(browser: Any) -> None:
    page = browser.new_page()
    mount(page, "comparison")
    cells = [{"text": text, "share": None, "note": "", "changed": False} for text in ("Die Katze", "Die Katze " * 200)]
    table = {"title": "Results", "note": "", "columns": ["a", "b"], "names": ["", ""], "lang": "de", "color": "black"}
    draw(page, table | {"rows": [{"label": "As it is", "cells": cells}]})
    texts = page.locator(".text")
    expect(texts.nth(1)).to_have_attribute("tabindex", "0")
    fades = "node => getComputedStyle(node).maskImage.startsWith('linear-gradient')"
    assert [texts.nth(n).evaluate(fades) for n in (0, 1)] == [False, True]
    texts.nth(1).focus()
    page.keyboard.press("End")
    page.wait_for_function("document.querySelectorAll('.text')[1].scrollTop > 0")
    assert texts.nth(0).get_attribute("tabindex") is None
    page.close()
