"""A choice that the page has not received is sent again, alone in a browser: what gets lost between two pages."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.component_alone import SCRIPT, draw, mount, sent

STATE = {
    "is_on": True,
    "lesson": "test",
    "place": 0,
    "count": 9,
    "text": "",
    "question": False,
    "is_asked": False,
    "own": "",
    "received": 0,
}


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    page = browser.new_page()
    page.clock.install()
    page.route("**", lambda route: route.fulfill(body="", content_type="text/html"))
    page.goto("http://127.0.0.1/")  # the tab has a memory there
    mount(page, "lecture")
    page.evaluate(SCRIPT)
    draw(page, STATE)
    yield page
    page.close()


def test_a_key_that_the_page_has_not_received_is_sent_again(page: Any) -> None:
    page.keyboard.press("ArrowRight")
    (first,) = sent(page)
    page.clock.run_for(1000)
    assert sent(page) == [first, first]
    draw(page, STATE | {"place": first["index"], "received": first["number"]})
    page.clock.run_for(9000)
    assert sent(page) == [first, first], "it was received"


def test_nothing_is_sent_again_while_the_page_runs_and_only_the_newest_after_it(page: Any) -> None:
    page.evaluate("runs('running')")
    page.keyboard.press("ArrowRight")
    page.clock.run_for(5000)
    page.keyboard.press("ArrowRight")
    page.clock.run_for(5000)
    first, second = sent(page)
    assert (first["index"], second["index"]) == (1, 2)
    draw(page, STATE | {"place": 1, "received": first["number"]})
    page.evaluate("runs('notRunning')")
    page.clock.run_for(1000)
    assert sent(page) == [first, second, second]


def test_a_choice_that_is_never_received_is_not_sent_for_ever(page: Any) -> None:
    page.keyboard.press("ArrowRight")
    page.clock.run_for(60_000)
    assert 2 < len(sent(page)) < 10
