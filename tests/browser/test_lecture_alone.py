"""A lecture and its presenter's window alone in a browser. The second scene has a question and no text."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.support.component_alone import draw, mount, sent

# Moves the clock of a page by so many ms.
CLOCK = "added => { window.trueNow ??= Date.now; Date.now = () => trueNow() + added; }"
# A box with a text of many lines, of which two are in view.
BOX = """() => document.body.insertAdjacentHTML("afterbegin",
    `<div id="long" tabindex="0" style="height: 2em; overflow-y: auto">${"line<br>".repeat(20)}</div>`)"""
ADDRESS = "http://lecture.test/"
SCENE = {"minutes": 2, "notes": "Say it.", "question": None}
LESSON = {
    "name": "short",
    "title": "Short",
    "minutes": 4,
    "scenes": [SCENE | {"title": "One", "text": "A sentence."}, SCENE | {"title": "Two", "text": ""}],
}


def scene(number: int, **changes: object) -> dict[str, object]:
    """The data of the lecture in a scene, from 0."""
    text = LESSON["scenes"][number]["text"]  # type: ignore[index]
    of_scene = {"is_on": True, "lesson": "short", "place": number, "count": 2, "text": text, "question": number == 1}
    return of_scene | {"is_asked": False, "own": "", "received": 0} | changes


@pytest.fixture
def windows(browser: Any) -> Iterator[tuple[Any, Any]]:
    """The window of the class and that of the presenter, of one origin; the class has seen the scene for a minute."""
    pages = browser.new_page(), browser.new_page()
    for page in pages:
        page.route(f"{ADDRESS}*", lambda route: route.fulfill(body="<body></body>", content_type="text/html"))
        page.goto(ADDRESS)
    class_, notes = pages
    mount(class_, "lecture")
    class_.evaluate(CLOCK, -60_000)
    draw(class_, scene(0))
    class_.evaluate(CLOCK, 0)
    mount(notes, "presenter")
    draw(notes, LESSON)
    yield class_, notes
    for page in pages:
        page.close()


def test_a_scene_without_a_text_is_revealed_in_two_steps(windows: tuple[Any, Any]) -> None:
    class_, notes = windows
    sees = notes.locator(".note").nth(1)
    class_.keyboard.press("PageDown")
    draw(class_, scene(1))
    expect(sees).to_have_text("The class sees: title and picture; ↓ reveals more.")
    class_.keyboard.press("ArrowDown")
    expect(sees).to_have_text("The class sees: its question; ↓ reveals the answer.")
    class_.keyboard.press("ArrowUp")
    expect(sees).to_have_text("The class sees: title and picture; ↓ reveals more.")
    class_.keyboard.press("PageUp")
    draw(class_, scene(0, received=3))
    expect(sees).to_have_text("The class sees: title, picture and sentences.")


def test_a_question_that_the_page_has_taken_away_can_be_asked_again(windows: tuple[Any, Any]) -> None:
    class_, notes = windows
    sees = notes.locator(".note").nth(1)
    class_.keyboard.press("PageDown")
    draw(class_, scene(1))
    class_.keyboard.press("ArrowDown")
    asked = sent(class_)[-1]
    assert (asked["name"], asked["index"]) == ("question", 1)
    draw(class_, scene(1))  # the server has not received it yet
    expect(sees).to_have_text("The class sees: its question; ↓ reveals the answer.")
    draw(class_, scene(1, is_asked=True, received=asked["number"]))
    expect(sees).to_have_text("The class sees: its question; ↓ reveals the answer.")
    draw(class_, scene(1, received=asked["number"]))  # "Show it in the picture" has taken the card away
    expect(sees).to_have_text("The class sees: title and picture; ↓ reveals more.")
    class_.keyboard.press("ArrowDown")
    assert sent(class_)[-1]["index"] == 1
    expect(sees).to_have_text("The class sees: its question; ↓ reveals the answer.")


@pytest.mark.parametrize("key", ["p", "Shift+P"])
def test_p_begins_a_lecture_also_as_a_capital(windows: tuple[Any, Any], key: str) -> None:
    class_, _ = windows
    draw(class_, scene(0, is_on=False))
    class_.keyboard.press(key)
    begun = sent(class_)[-1]
    assert (begun["name"], begun["index"]) == ("lecture", 1)


def test_keys_scroll_a_text_that_is_longer_than_its_box_and_the_others_still_walk(windows: tuple[Any, Any]) -> None:
    class_, notes = windows
    sees = notes.locator(".note").nth(1)
    class_.evaluate(BOX)
    box = class_.locator("#long")
    box.focus()
    class_.keyboard.press("ArrowDown")
    class_.wait_for_function("document.getElementById('long').scrollTop > 0")
    class_.keyboard.press("Home")
    class_.wait_for_function("document.getElementById('long').scrollTop === 0")
    expect(sees).to_have_text("The class sees: title and picture; ↓ reveals more.")
    box.evaluate("box => { box.style.height = 'auto'; }")  # now it has room for all
    class_.keyboard.press("ArrowDown")
    expect(sees).to_have_text("The class sees: title, picture and sentences.")
    class_.evaluate("window.sent = []")
    class_.keyboard.press("ArrowRight")
    assert class_.evaluate("window.sent.length") == 1


def test_the_clock_of_a_scene_runs_since_the_class_sees_it(windows: tuple[Any, Any]) -> None:
    _, notes = windows
    plan = notes.locator(".note").first
    expect(plan).to_have_text(re.compile("^1:0. in this scene, planned 2:00; planned to end at 2:00"))
    notes.get_by_role("button", name="Restart the clock").click()
    expect(plan).to_have_text(re.compile("^0:0. in this scene"))


def test_the_presenters_window_says_that_the_lesson_is_no_longer_shown(windows: tuple[Any, Any]) -> None:
    class_, notes = windows
    sees = notes.locator(".note").nth(1)
    expect(sees).to_contain_text("The class sees")
    draw(class_, scene(0, is_on=False))
    expect(sees).to_have_text("No window of this browser shows the lesson.")
    expect(notes.locator(".note").first).to_have_text("This scene is planned to end at 2:00.")
    draw(class_, scene(0))
    expect(sees).to_contain_text("The class sees")
    class_.goto("about:blank")
    expect(sees).to_have_text("No window of this browser shows the lesson.")
