"""A lecture is given with keys alone: a lesson is walked, nothing is below the fold, the presenter's window follows."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from app.library.lessons import lessons
from tests.browser.conftest import Visit
from tests.support.browser_pages import PAGES, is_drawn
from tests.support.in_the_window import BOTTOM, TOO_SMALL

Begin = Callable[..., Visit]
NAME = "in-ten-minutes"
PLACE = ".st-key-lecture_keys .place"
IS_CUT = "frame => frame.scrollHeight > frame.clientHeight + 1 || frame.scrollWidth > frame.clientWidth + 1"
IS_DARK = "() => getComputedStyle(document.querySelector('[data-testid=stApp]') ?? document.body).colorScheme == 'dark'"
FITS = """() => {
    const main = document.querySelector('[data-testid=stMain]');
    return main.scrollHeight <= main.clientHeight + 1;
}"""


def is_at(page: Any, scene: int) -> None:
    """Waits until the server shows a scene, from 0."""
    lesson = lessons()[NAME].lesson
    assert lesson
    expect(page.locator("h1")).to_have_text(lesson.scenes[scene].title)
    expect(page.locator(PLACE)).to_have_text(f"{scene + 1} / {len(lesson.scenes)}")


def test_a_lesson_is_walked_by_keys_and_nothing_is_below_the_fold(visit: Begin) -> None:
    lesson = lessons()[NAME].lesson
    assert lesson
    one = visit(width=1280, height=720).open(lecture="1", lesson=NAME)
    for number, scene in enumerate(lesson.scenes):
        is_at(one.page, number)
        is_drawn(one, scene.page)
        if number == 0:
            one.page.wait_for_function("() => window.Plotly")  # which charts of later scenes would wait for
        one.page.wait_for_function(FITS)
        for part in (".st-key-question h1", PAGES[scene.page].pictures[0]):
            assert one.page.locator(part).evaluate_all(BOTTOM) <= 721, (scene.title, part)
        assert one.page.evaluate(TOO_SMALL, 14) == [], scene.title
        pinned = [place for place in scene.query.get("pinned", "").split(".")[1:3] if place != "0"]
        expect(one.page.locator(".canvas .token.pinned")).to_have_count(len(pinned))
        text = one.page.locator(".st-key-lecture_keys .text")
        if scene.text:
            if number % 2 == 0 and number:  # with PageDown it comes with its sentences
                expect(text).to_be_visible()
            else:
                expect(text).to_be_hidden()
                one.page.keyboard.press("ArrowDown")
            expect(text).to_have_text(scene.text)
            expect(text).to_be_visible()
        if number + 1 < len(lesson.scenes):
            with one.running():
                one.page.keyboard.press("PageDown" if number % 2 else "ArrowRight")
    for key, place in (("Home", 0), ("End", len(lesson.scenes) - 1), ("ArrowLeft", len(lesson.scenes) - 2)):
        with one.running():  # a key counts from the scene that the server shows
            one.page.keyboard.press(key)
        is_at(one.page, place)


@pytest.mark.soak
def test_keys_are_those_of_a_lecture_only_outside_of_fields(visit: Begin) -> None:
    one = visit(width=1280, height=720).open("attention", sentence="the cat sat")
    is_drawn(one, "attention")
    page, box = one.page, one.page.get_by_label("Sentence", exact=True)
    box.press("End")
    box.press("p")
    expect(box).to_have_value("the cat satp")
    page.keyboard.press("Backspace")
    page.locator("h1").click()
    page.keyboard.press("Control+l")
    page.keyboard.press("p")
    page.wait_for_url(re.compile("lecture=1"))
    page.locator("html.lecture").wait_for(state="attached")  # the keys are those of a lecture
    expect(box).to_be_hidden()
    page.keyboard.press("s")
    expect(box).to_be_focused()
    box.fill("the mat and the cat and the dog and the mat and the cat and the dog")
    with one.running():
        box.press("Enter")
    expect(box).to_be_hidden()
    expect(page.locator(".canvas .matrix .name").filter(has_text="mat")).not_to_have_count(0)
    assert not page.locator(".canvas .frame-of-stage").evaluate(IS_CUT), "a large matrix is cut"
    head = page.locator(".canvas .head").first
    head.focus()
    page.keyboard.press("ArrowRight")  # the picture's: another head has the focus
    expect(head).not_to_be_focused()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys of the lecture")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog", name="Keys of the lecture")).to_have_count(0)
    page.evaluate("localStorage.setItem(`stActiveTheme-${location.pathname}-v2`, '\"Light\"')")  # as the menu does
    page.keyboard.press("l")
    page.wait_for_function(IS_DARK)
    page.locator("html.lecture").wait_for(state="attached")
    page.evaluate("localStorage.clear()")  # this browser has other visitors
    page.keyboard.press("c")
    expect(page.locator(".st-key-class_code h2")).to_have_text(re.compile(r"^\w{6}$"))
    page.keyboard.press("Escape")
    expect(page.locator(".st-key-class_code")).to_have_count(0)
    assert "/attention" in page.url
    page.keyboard.press("p")
    page.wait_for_url(re.compile("^(?!.*lecture=1)"))
    expect(box).to_be_visible()


@pytest.mark.soak
def test_the_presenters_window_follows_and_walks(visit: Begin) -> None:
    lesson = lessons()[NAME].lesson
    assert lesson
    class_, notes = visit(width=1280, height=720), visit(width=900, height=700)
    class_.open(lecture="1", lesson=NAME, scene="2")
    is_at(class_.page, 1)
    notes.page.goto(f"{notes.address}/?presenter=1&lesson={NAME}")
    title = notes.page.locator(".st-key-presenter_notes h1")
    expect(title).to_have_text(lesson.scenes[1].title)
    shown = notes.page.locator(".st-key-presenter_notes .note").nth(1)
    for text in ("picture and sentences;", "reveals the answer", "and the answer"):
        notes.page.keyboard.press("ArrowDown")
        expect(shown).to_contain_text(text)
        if "reveals" in text:
            class_.page.locator(".st-key-lecture_question .answers").wait_for()
    notes.page.keyboard.press("ArrowRight")
    is_at(class_.page, 2)
    expect(title).to_have_text(lesson.scenes[2].title)
    expect(notes.page.locator(".st-key-presenter_notes .next")).to_contain_text(lesson.scenes[3].title)
    class_.page.keyboard.press("ArrowLeft")
    expect(title).to_have_text(lesson.scenes[1].title)
    class_.page.wait_for_url(re.compile(f"lesson={NAME}"))
