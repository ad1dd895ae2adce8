"""The lecturer's side of a class: what is published as they walk and click, and what the panel says."""

import json
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import streamlit as st
from streamlit.runtime.context import ContextProxy
from streamlit.testing.v1 import AppTest

from app.classroom import lecturer
from app.classroom.class_panel import qr_code
from app.classroom.class_state import CLASSES
from app.languages import _, speaking
from app.lessons.lesson_file import LessonScene
from app.pages import info
from app.questions.question import ANYWHERE, Question
from app.server import visitor
from app.state.lecture_choices import LESSON
from tests.support.app_checkpoints import write_checkpoint
from tests.support.canvas_alone import scene_with


class Follower:
    """What a phone gets."""

    def __init__(self, app: AppTest):
        self.code, self.secret = app.session_state["class"]
        self._token = CLASSES.join(self.code, "10.0.0.1")

    @property
    def sees(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(CLASSES.news(self.code, self._token)[1])
        return found


@pytest.fixture
def open_class(open_app: Callable[..., AppTest]) -> Iterator[Callable[..., AppTest]]:
    """Opens a page and a class on it."""
    opened: list[AppTest] = []

    def begin(page: str = "translate", **address: str) -> AppTest:
        app = open_app(page, **address)
        button(app, "Kurs öffnen" if address.get("lang") == "de" else "Open a class").click().run()
        opened.append(app)
        return app

    yield begin
    for app in opened:
        if app.session_state.get("class"):
            CLASSES.close(*app.session_state["class"])


def button(app: AppTest, label: str) -> Any:
    return next(each for each in app.button if each.label == label)


def test_the_class_sees_the_page_its_head_and_another_sentence(open_class: Callable[..., AppTest]) -> None:
    app = open_class(kind="cross", layer="2", head="3")
    follower = Follower(app)
    first = follower.sees
    assert first["title"] == "How is my sentence translated?"
    assert first["shown"] == {"kind": "cross", "layer": 1, "head": 2, "form": "arcs", "pinned": [-1, -1]}
    app.run()
    assert any("Followed by 1 phone" in text.value for text in app.text)
    app.text_input(key="sentence").set_value("a cat").run()
    second = follower.sees
    assert second["picture"] != first["picture"]
    assert second["model"] == first["model"]
    app.run()
    assert follower.sees == second  # the same again is nothing new


def test_the_class_of_a_german_lecturer_is_german(open_class: Callable[..., AppTest]) -> None:
    english = open_class("masks", sentence="a cat")
    with speaking("de"):  # also AppTest, which looks for the labels of what is chosen
        german, title = open_class("masks", lang="de", sentence="a cat"), _(info("masks").question)
        sees, other = Follower(german).sees, Follower(english).sees
        german.run()
    assert (sees["language"], other["language"]) == ("de", "en")
    assert (sees["title"], other["title"]) == (title, info("masks").question)
    assert ("lang=de" in sees["link"], "lang=" in other["link"]) == (True, False)
    assert any("Smartphone" in text.value for text in german.text)


def test_a_page_without_a_canvas_is_a_link_to_what_the_lecturer_sees(open_class: Callable[..., AppTest]) -> None:
    app = open_class("masks", sentence="a cat")
    sees = Follower(app).sees
    assert (sees["title"], sees["picture"]) == ("Why must no token attend to later ones?", "")
    assert sees["link"].startswith("/masks?")
    assert "sentence=a+cat" in sees["link"]


def test_the_link_of_a_lecture_opens_a_page_in_which_a_phone_has_the_sentence_box(
    open_class: Callable[..., AppTest],
) -> None:
    """A lecture hides the box, and without keys a phone cannot leave it."""
    link = Follower(open_class("masks", sentence="a cat", lecture="1", mask_taken="true")).sees["link"]
    assert "sentence=a+cat" in link
    assert "mask_taken=true" in link
    assert "lecture" not in link


def test_what_is_in_a_frame_of_side_by_side_is_not_shown_to_the_class(
    open_class: Callable[..., AppTest], open_app: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lecturer, "identity", lambda: "the lecturer's browser")
    follower = Follower(open_class("beside", sentence="a cat"))
    before = follower.sees
    assert before["link"].startswith("/beside?")
    assert not open_app("masks", sentence="the dog", framed="true").exception
    assert follower.sees == before


def test_the_class_follows_the_tab_in_which_it_was_opened_until_another_one_is_asked_for(
    open_class: Callable[..., AppTest], open_app: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch
) -> None:
    now, opened = ["first"], {"first", "second"}
    monkeypatch.setattr(lecturer, "identity", lambda: "the lecturer's browser")
    monkeypatch.setattr(lecturer, "tab", lambda: now[0])
    monkeypatch.setattr(lecturer, "is_open_tab", lambda tab: tab in opened)
    first = open_class("masks", sentence="a cat")
    follower = Follower(first)
    assert not takes_over(first)
    now[0] = "second"
    second = open_app("beside", sentence="a cat")
    assert follower.sees["link"].startswith("/masks?")
    assert any("follows another tab of this browser" in text.value for text in second.text)
    button(second, "Show code to the class").click().run()
    assert not second.exception
    second.button(key="lead_from_code").click().run()
    assert follower.sees["link"].startswith("/beside?")
    assert not takes_over(second)
    now[0] = "first"
    assert takes_over(first.run())
    assert follower.sees["link"].startswith("/beside?")
    opened.remove("second")
    assert not takes_over(first.run())
    assert follower.sees["link"].startswith("/masks?")


def takes_over(app: AppTest) -> bool:
    """Whether the page offers that the class follows it."""
    return any(each.label == "Show this tab to the class" for each in app.button)


def test_closing_the_class_ends_it_and_a_visitor_who_opened_none_publishes_nothing(
    open_class: Callable[..., AppTest], open_app: Callable[..., AppTest]
) -> None:
    app = open_class()
    follower = Follower(app)
    before = follower.sees
    open_app("attention")
    assert follower.sees == before
    button(app, "Close the class").click().run()
    assert not CLASSES.is_open(follower.code, follower.secret)
    assert button(app, "Open a class")


def test_a_class_that_ends_while_a_page_is_drawn_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lecturer, "own_class", lambda: ("ENDED", "secret"))
    asked = Question("next-word", "Which word comes next?", ("Haus", "Hund"), 1, "Because.", 1.0, ANYWHERE)
    assert lecturer.followers() == 0
    assert lecturer.totals(asked) == lecturer.reveal(asked) == ()


def walk() -> None:
    """A page of a lesson: lecture mode publishes its scene, then the page follows."""
    import streamlit as st

    from app.classroom import lecturer
    from app.pages import info

    state = st.session_state
    lecturer.open_class()
    if "lesson_scene" in state:
        lecturer.publish_scene(state["lesson_scene"], state["scene"], state["question"])
    lecturer.publish_page(info(state["page"]), state["scene"])
    if "reveals" in state:
        state["totals"] = lecturer.reveal(state["question"])


def asking(folder: Path) -> AppTest:
    """A class that has been asked the question of a scene."""
    one = scene_with(write_checkpoint(folder / "one.safetensors"))
    asked = Question("next-word", "Which word comes next?", ("Haus", "Hund"), 1, "Because.", 1.0, ANYWHERE)
    of_lesson = LessonScene("A title", 2.0, "translate", {}, "", "", "Two sentences.", "Notes.", "next-word", 1)
    app = AppTest.from_function(walk)
    state = {"page": "translate", "scene": one, "question": asked, "lesson_scene": of_lesson, LESSON.key: "any"}
    for name, value in state.items():
        app.session_state[name] = value
    app.run()
    assert not app.exception
    return app


def test_a_lesson_s_words_and_question_stay_until_another_sentence_or_page(tmp_path: Path) -> None:
    app = asking(tmp_path)
    asked, of_lesson = app.session_state["question"], app.session_state["lesson_scene"]
    follower = Follower(app)
    sees = follower.sees
    assert (sees["title"], sees["text"], sees["picture"]) == ("A title", "Two sentences.", "")
    assert sees["question"]["answers"] == list(asked.answers)
    assert "Notes" not in json.dumps(sees)
    assert "right" not in json.dumps(sees)
    app.session_state["reveals"] = True
    app.run()
    assert app.session_state["totals"] == (0,) * len(asked.answers)
    assert follower.sees["revealed"]["right"] == asked.right
    assert follower.sees["picture"]
    del app.session_state["lesson_scene"], app.session_state["reveals"]
    app.session_state["scene"] = scene_with(tmp_path / "one.safetensors", "a cat")
    before = follower.sees
    app.run()
    assert follower.sees == before  # the page alone does not send the new picture before its question
    app.session_state["lesson_scene"], app.session_state["question"] = of_lesson, None
    app.run()
    assert (follower.sees["title"], follower.sees["question"]) == ("A title", None)
    del app.session_state["lesson_scene"]
    app.session_state["page"] = "attention"
    app.run()
    assert follower.sees["title"] == "What does each word attend to?"
    CLASSES.close(follower.code, follower.secret)


def test_a_question_that_was_not_answered_ends_with_the_lecture(tmp_path: Path) -> None:
    app = asking(tmp_path)
    follower = Follower(app)
    assert follower.sees["question"]
    del app.session_state["lesson_scene"], app.session_state[LESSON.key]
    app.run()  # the same page and the same sentence
    sees = follower.sees
    assert (sees["title"], sees["question"]) == ("How is my sentence translated?", None)
    assert sees["picture"]
    CLASSES.close(follower.code, follower.secret)


def test_the_link_has_the_address_by_which_phones_reach_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    def link(opened_at: str, shared: bool) -> str:
        monkeypatch.setattr(visitor, "serves_others", lambda: shared)
        monkeypatch.setattr(st, "context", SimpleNamespace(url=opened_at))
        return lecturer.class_address("ABCDEF")

    monkeypatch.setattr(socket.socket, "getsockname", lambda _: ("192.168.1.5", 0))
    assert link("http://localhost:8501/masks", False) == ""
    assert link("http://localhost:8501/masks", True) == "http://192.168.1.5:8501/class/ABCDEF"
    assert link("https://class.example/masks?x=1", True) == "https://class.example/class/ABCDEF"


def test_a_shared_server_that_does_not_know_its_address_says_what_phones_open(
    open_class: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch
) -> None:
    app = open_class()
    monkeypatch.setattr("app.classroom.class_panel.serves_others", lambda: True)
    monkeypatch.setattr(lecturer, "address_for_others", lambda: "")
    monkeypatch.setattr(ContextProxy, "url", "http://localhost:8501/masks")
    button(app, "Show code to the class").click().run()
    assert not app.exception
    (warning,) = app.warning
    assert f"http://ADDRESS:8501/class/{app.session_state['class'][0]}" in warning.value


def test_the_qr_code_is_black_on_white_and_made_here() -> None:
    drawn = qr_code("http://192.168.1.5:8501/class/ABCDEF")
    assert drawn.startswith("<svg")
    assert "#fff" in drawn
    assert "http" not in drawn.replace("http://www.w3.org/", "")
