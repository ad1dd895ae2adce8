"""What a tab keeps of the sentence is sent until the page has received it, alone in a browser."""

from typing import Any

import pytest

from tests.support.component_alone import SCRIPT, draw, mount, sent


@pytest.mark.parametrize("runs", [False, True])
def test_the_kept_sentence_is_sent_again_until_the_page_has_it(browser: Any, runs: bool) -> None:
    page = browser.new_page()
    page.clock.install()
    page.route("**", lambda route: route.fulfill(body="", content_type="text/html"))
    page.goto("http://127.0.0.1/")
    page.evaluate("sessionStorage.setItem('headlight sentence', 'a b c')")
    mount(page, "tab_memory")
    page.evaluate(SCRIPT)
    page.evaluate("state => runs(state)", "running" if runs else "notRunning")
    draw(page, {"sentence": "the example", "fresh": True})
    page.clock.run_for(1000)
    assert sent(page) == ["a b c"] * (1 if runs else 2)  # a page that runs may still receive it
    draw(page, {"sentence": "a b c", "fresh": False})
    page.evaluate("runs('notRunning')")
    page.clock.run_for(9000)
    assert sent(page) == ["a b c"] * (1 if runs else 2)
    assert page.evaluate("sessionStorage.getItem('headlight sentence')") == "a b c"
    page.close()
