"""A class in the browser: a lecturer opens it; a phone follows, types a sentence of its own, and answers."""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from app.classroom.class_scene import NOTHING_PINNED, Asked, ClassScene, ShownHead
from app.classroom.class_state import Classes
from app.classroom.own_sentence import packed
from app.languages import speaking
from app.stage.canvas_of_scene import message_of
from tests.browser.conftest import PATIENCE, Visit
from tests.support.app_checkpoints import write_checkpoint
from tests.support.canvas_alone import KEY, scene_with
from tests.support.class_phones import served

TARGETS = """[...document.querySelectorAll('main button, main input, main a')]
    .filter(node => node.offsetParent).map(node => node.getBoundingClientRect().height)"""

HOSTILE = "</script><img src=x onerror=alert(1)> the cat"


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    """A page of a phone."""
    made = browser.new_page()
    made.set_default_timeout(PATIENCE)
    made.set_viewport_size({"width": 390, "height": 844})
    yield made
    made.close()


def held_requests(page: Any, pattern: str) -> list[Any]:
    """The requests of this pattern, which are held until they are answered."""
    held: list[Any] = []
    page.route(pattern, lambda route: held.append(route))
    return held


def open_class(lecturer: Visit) -> str:
    """Opens a class in the menu; its code."""
    lecturer.page.get_by_role("button", name="Menu").click()
    lecturer.page.get_by_text("Class: what you show").click()
    opens, closes = (lecturer.page.get_by_role("button", name=name) for name in ("Open a class", "Close the class"))
    opens.or_(closes).wait_for()
    if closes.is_visible():  # another test has opened one
        closes.click()
    opens.click()
    code = lecturer.page.locator(".st-key-class_panel code").inner_text().strip()
    lecturer.page.keyboard.press("Escape")
    return str(code)


def test_a_phone_follows_and_has_a_sentence_of_its_own(visit: Callable[..., Visit]) -> None:
    lecturer, phone = visit().open(), visit(width=390, height=844, dark=True)
    lecturer.drawn()
    code = open_class(lecturer)
    page = phone.page
    page.goto(f"{phone.address}/class")
    page.get_by_label("Code of the class").fill(code.lower())
    page.get_by_role("button", name="Follow").click()
    expect(page.get_by_role("heading")).to_have_text("How is my sentence translated?")
    lecturer.type("the cat sat")
    expect(page.locator(KEY)).to_have_count(4)
    page.get_by_label("Your own sentence").fill(HOSTILE)
    page.get_by_role("button", name="Translate").click()
    expect(page.get_by_text("Only you see it.")).to_be_visible()
    expect(page.locator(KEY)).not_to_have_count(4)
    assert page.locator("img").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert min(page.evaluate(TARGETS)) >= 44
    page.get_by_role("button", name="Back to the lecturer’s sentence").click()
    expect(page.locator(KEY)).to_have_count(4)
    lecturer.follow("Masks")
    expect(page.get_by_role("link", name="Open this page in Headlight")).to_be_visible()
    expect(page.get_by_label("Your own sentence")).to_be_hidden()


@pytest.mark.soak
def test_the_class_follows_one_tab_of_the_lecturer_and_another_one_when_that_is_asked_for(
    visit: Callable[..., Visit],
) -> None:
    first, phone, second = visit().open(), visit(width=390, height=844), visit()
    code = open_class(first)
    phone.page.goto(f"{phone.address}/class/{code}")
    title = phone.page.get_by_role("heading")
    expect(title).to_have_text("How is my sentence translated?")
    second.open("masks")
    second.page.get_by_role("button", name="Menu").click()
    second.page.get_by_text("Class: what you show").click()
    expect(second.page.get_by_text("The class follows another tab of this browser.")).to_be_visible()
    expect(title).to_have_text("How is my sentence translated?")
    second.page.get_by_role("button", name="Show this tab to the class").click()
    expect(title).to_have_text("Why must no token attend to later ones?")


def test_a_phone_answers_and_sees_the_right_answer_and_the_picture_once_it_is_revealed(
    page: Any, tmp_path: Path
) -> None:
    scene, classes = scene_with(write_checkpoint(tmp_path / "one.safetensors")), Classes()
    code, secret = classes.open()
    asked = Asked("Which word gets most?", ("cat", "<b>mat</b>", "sat"))
    shown = ClassScene(
        "A question", picture=packed(message_of(scene)), shown=ShownHead("cross", 1, 2, "arcs"), question=asked
    )
    classes.publish(code, secret, shown)
    with served(classes) as address:
        page.goto(f"{address}/class/{code}")
        page.get_by_role("button", name="cat").click()
        mine = page.get_by_role("button", name="<b>mat</b>")
        mine.click()
        expect(page.get_by_text("Your answer has arrived.")).to_be_visible()
        expect(mine).to_have_attribute("aria-pressed", "true")
        expect(page.get_by_text("The picture comes")).to_be_visible()
        assert min(page.evaluate(TARGETS)) >= 44
        page.reload()
        expect(mine).to_have_attribute("aria-pressed", "true")
        assert classes.reveal(code, secret, asked.id, 1, "It gets 80%.") == (0, 1, 0)
        expect(page.get_by_text("Your answer is right. It gets 80%.")).to_be_visible()
        expect(mine).to_be_disabled()
        expect(page.locator(KEY)).to_have_count(len(scene.translation.source_ids))
        expect(page.get_by_text("Layer 2, head 3", exact=True)).to_be_visible()
        classes.close(code, secret)
        expect(page.get_by_text("This class has ended")).to_be_visible()


def test_a_phone_draws_the_picture_though_requests_fail_at_first(page: Any, tmp_path: Path) -> None:
    scene, classes = scene_with(write_checkpoint(tmp_path / "one.safetensors")), Classes()
    code, secret = classes.open()
    classes.publish(
        code, secret, ClassScene("A", picture=packed(message_of(scene)), shown=ShownHead("cross", 1, 2, "arcs"))
    )
    failed: list[str] = []
    kinds = re.compile("picture|canvas.js|canvas.css")

    def fail_once(route: Any) -> None:
        name = kinds.findall(route.request.url)[0]
        if name in failed:
            route.continue_()
        else:
            failed.append(name)
            route.abort()

    page.route(kinds, fail_once)
    with served(classes) as address:
        page.goto(f"{address}/class/{code}")
        expect(page.locator(KEY)).to_have_count(len(scene.translation.source_ids))
        assert sorted(failed) == ["canvas.css", "canvas.js", "picture"]
        expect(page.locator(".status")).to_have_text("")
        classes.close(code, secret)


def test_a_phone_shows_what_the_lecturer_pins_and_no_pin_of_another_kind_of_attention(
    page: Any, tmp_path: Path
) -> None:
    scene, classes = scene_with(write_checkpoint(tmp_path / "one.safetensors")), Classes()
    picture = packed(message_of(scene))
    code, secret = classes.open()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))

    def show(kind: str, *pinned: int) -> None:
        shown = ShownHead(kind, 1, 2, "arcs", (pinned[0], pinned[1]) if pinned else NOTHING_PINNED)
        classes.publish(code, secret, ClassScene("A", picture=picture, shown=shown))

    show("cross")
    with served(classes) as address:
        page.goto(f"{address}/class/{code}")
        pressed = page.locator('.canvas .token[aria-pressed="true"]')
        expect(page.locator(KEY)).to_have_count(len(scene.translation.source_ids))
        expect(pressed).to_have_count(0)
        show("cross", 1, -1)
        expect(pressed).to_have_count(1)
        last = page.locator(KEY).last
        last.click()  # the phone's own pin, the last token of the source
        expect(last).to_have_attribute("aria-pressed", "true")
        show("decoder")  # has fewer tokens
        expect(page.locator(KEY)).to_have_count(len(scene.hypothesis.ids))
        expect(pressed).to_have_count(0)
        expect(page.locator(".canvas .arc").first).to_be_attached()
        classes.close(code, secret)
    assert errors == []


def test_a_phone_follows_the_language_of_the_class(page: Any, tmp_path: Path) -> None:
    scene, classes = scene_with(write_checkpoint(tmp_path / "one.safetensors")), Classes()
    picture, asked = packed(message_of(scene)), Asked("Welches Wort?", ("cat", "mat"))
    head = ShownHead("cross", 1, 2, "arcs")
    with speaking("de"):
        code, secret = classes.open()
        classes.publish(code, secret, ClassScene("Eine Frage", picture=picture, shown=head, question=asked))
    with served(classes) as address:
        page.goto(f"{address}/class/{code}")
        expect(page.locator("html")).to_have_attribute("lang", "de")
        page.get_by_role("button", name="cat").click()
        expect(page.get_by_text("Die Antwort ist angekommen.")).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        classes.publish(code, secret, ClassScene("In English now", picture=picture, shown=head))
        expect(page.locator("html")).to_have_attribute("lang", "en")
        expect(page.get_by_text(f"Class {code}")).to_be_visible()
        assert classes.followers(code, secret) == 1
        classes.close(code, secret)


def test_an_answer_that_arrives_late_changes_neither_the_verdict_nor_the_next_question(page: Any) -> None:
    classes = Classes()
    code, secret = classes.open()
    first, second = Asked("One?", ("cat", "mat")), Asked("Two?", ("sat", "hat"))
    classes.publish(code, secret, ClassScene("First", question=first))
    held = held_requests(page, "**/answer")
    with served(classes) as address:
        page.goto(f"{address}/class/{code}")
        page.get_by_role("button", name="mat").click()
        classes.reveal(code, secret, first.id, 1, "It gets 80%.")
        note = page.locator(".question .note")
        expect(note).to_have_text("It gets 80%.")  # the answer has not arrived, so there is no verdict
        with page.expect_response("**/answer"):
            held[0].continue_()
        expect(page.get_by_role("button", name="mat")).to_have_attribute("aria-pressed", "false")
        expect(note).to_have_text("It gets 80%.")
        for question in (second, Asked("Three?", ("rat", "bat"))):
            classes.publish(code, secret, ClassScene(question.prompt, question=question))
            expect(page.locator(".prompt")).to_have_text(question.prompt)
            if question is second:
                page.get_by_role("button", name="hat").click()
        with page.expect_response("**/answer"):
            held[1].continue_()
        expect(note).to_have_text("Which is right?")
        assert page.locator("[aria-pressed=true]").count() == 0
        classes.close(code, secret)


def test_a_sentence_that_another_model_translated_meanwhile_is_not_shown(page: Any, tmp_path: Path) -> None:
    scene, classes = scene_with(write_checkpoint(tmp_path / "one.safetensors")), Classes()
    picture, head = packed(message_of(scene)), ShownHead("cross", 1, 2, "arcs")
    settings = scene.translation.settings
    code, secret = classes.open()
    shown = ClassScene("A", picture=picture, shown=head, model=(scene.subject, settings))
    classes.publish(code, secret, shown)
    held = held_requests(page, "**/sentence")
    with served(classes) as address:
        page.goto(f"{address}/class/{code}")
        page.get_by_label("Your own sentence").fill("the cat")
        page.get_by_role("button", name="Translate").click()
        expect(page.get_by_text("Translating")).to_be_visible()
        other = (scene.subject, replace(settings, beam=settings.beam + 1))
        classes.publish(code, secret, replace(shown, title="B", model=other))
        expect(page.get_by_role("heading")).to_have_text("B")
        held[0].fulfill(body=message_of(scene))
        expect(page.get_by_role("button", name="Translate")).to_be_enabled()
        expect(page.get_by_text("Only you see it.")).to_be_hidden()
        classes.close(code, secret)
