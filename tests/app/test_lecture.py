"""Lecture mode and lessons: what is chosen, and what the page has then."""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from app.languages import language, speaking
from app.library import lessons
from app.pages import PAGES, info
from app.stage.lecture import lecture as lecture_mode
from app.stage.lecture import next_scene, shown_scene
from app.state import address
from app.state.choices import AS_TYPED, SENTENCE
from app.state.lecture_choices import LECTURE
from tests.support.drawn import components, page_text
from tests.support.pages import switch_page

Open = Callable[..., AppTest]
LESSON = """# A lesson
minutes: 4
checkpoint: en-de

For a test.

## First
minutes: 1
show: attention?kind=decoder&attention_form=arcs
sentence: the cat sat

What the class reads.

> Notes of the first.

## Second
minutes: 1
show: attention?t=2

> Nothing is named here.

## Third
minutes: 1
show: masks?layer=1
checkpoint: small
sentence: a b c
question: most-attended

## Fourth
minutes: 1
show: scaling?d_k=128
checkpoint: small
"""


@pytest.fixture
def lecture(open_app: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., AppTest]:
    """Opens a scene of the lesson, counted from 1, as a link does."""
    (tmp_path / "own.md").write_text(LESSON)
    monkeypatch.setenv("HEADLIGHT_LESSONS", str(tmp_path))
    assert lessons.lessons()["own"].lesson

    def opened(scene: int = 1, page: str = "translate", **more: str) -> AppTest:
        return open_app(page, lecture="1", lesson="own", scene=str(scene), **more)

    return opened


def component_data(app: AppTest) -> dict[str, object]:
    assert not app.exception
    (found,) = (each for each in components(app, "lecture") if "place" in each)
    return found


def chosen(app: AppTest, key: str) -> str | None:
    found = app.query_params.get(key)
    return found if isinstance(found, str) or found is None else found[0]


def test_a_lecture_has_neither_details_nor_a_next_question(open_app: Open) -> None:
    usual, before_a_class = open_app("hand", sentence="the cat"), open_app("hand", sentence="the cat", lecture="1")
    assert [each.label for each in usual.expander if each.label.startswith("Details")]
    assert not [each.label for each in before_a_class.expander if each.label.startswith("Details")]
    assert component_data(before_a_class)["is_on"]
    assert not component_data(usual)["is_on"]
    assert chosen(before_a_class, "lecture") == "1"
    assert before_a_class.title[0].value == usual.title[0].value


def test_a_lecture_shows_a_figure_of_the_details_in_place_of_the_picture(open_app: Open) -> None:
    for page in PAGES:
        if page.figures:
            module = import_module(f"app.views.{page.name}.figures_of_details")
            assert tuple(sorted(module.FIGURES)) == page.figures
    for name in info("decoding").figures:
        shown = open_app("decoding", sentence="the cat", lecture="1", figure=name)
        assert not shown.exception
        assert not components(shown, "next_token")
    assert components(open_app("decoding", sentence="the cat", lecture="1", figure="tree"), "search_tree")
    for name in info("scaling").figures:
        shown = open_app("scaling", sentence="the cat", lecture="1", figure=name)
        assert not shown.exception
        assert len(shown.table) == (name == "table-1")
    assert components(open_app("decoding", sentence="the cat", figure="tree"), "next_token")  # without a lecture
    assert components(open_app("decoding", sentence="the cat", lecture="1", figure="loss"), "next_token")


def test_the_menu_opens_a_lecture(open_app: Open) -> None:
    app = open_app("hand", sentence="the cat")
    next(each for each in app.button if each.label == "Lecture mode").click().run()
    assert component_data(app)["is_on"]
    assert chosen(app, "lecture") == "1"


@pytest.mark.parametrize("nonsense", ["true", "2", "<b>", ""])
def test_nonsense_in_the_address_is_no_lecture(open_app: Open, nonsense: str) -> None:
    app = open_app("hand", sentence="the cat", lecture=nonsense, lesson=nonsense, scene=nonsense)
    assert not component_data(app)["is_on"]


def test_a_link_to_a_scene_opens_its_page_with_what_it_names(lecture: Open) -> None:
    app = lecture(1)
    assert app.title[0].value == "First"
    assert (chosen(app, "kind"), chosen(app, "attention_form")) == ("decoder", "arcs")
    assert app.text_input(key="sentence").value == "the cat sat"
    assert (component_data(app)["text"], component_data(app)["count"]) == ("What the class reads.", 4)


def test_a_lesson_stays_in_the_language_of_the_address(lecture: Open, tmp_path: Path) -> None:
    (tmp_path / "de").mkdir()
    (tmp_path / "de" / "own.md").write_text(LESSON.replace("# First", "# Erste").replace("# Third", "# Dritte"))
    app = lecture(1, lang="de")
    assert (app.title[0].value, app.text_input(key="sentence").value) == ("Erste", "the cat sat")
    switch_page(app, "masks")
    app.query_params["scene"] = "3"
    with speaking("de"):  # AppTest itself looks for the labels of what is chosen
        app.run()
    assert (app.title[0].value, app.text_input(key="sentence").value) == ("Dritte", "a b c")
    assert chosen(app, "lang") == "de"
    (notes,) = components(lecture(1, presenter="1", lang="de"), "presenter")
    assert [each["title"] for each in notes["scenes"]] == ["Erste", "Second", "Dritte", "Fourth"]


def test_the_next_scenes_are_computed_in_the_language_of_the_visitor(
    lecture: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    spoken: list[str] = []
    monkeypatch.setattr(next_scene, "_compute", lambda *given, **more: spoken.append(language()))
    for wanted in ("de", "en"):
        assert not lecture(1, lang=wanted).exception
        next_scene._THREAD.submit(lambda: None).result()  # after those that wait
        assert set(spoken) == {wanted}
        spoken.clear()


def test_a_scene_without_a_sentence_has_the_last_one_of_its_checkpoint(lecture: Open) -> None:
    assert lecture(2).text_input(key="sentence").value == "the cat sat"
    app = lecture(4)
    assert app.text_input(key="sentence").value == "a b c"
    assert (chosen(app, "checkpoint"), chosen(app, "d_k")) == ("small", "128")


@pytest.mark.usefixtures("lecture")
def test_a_sentence_that_was_typed_between_two_lessons_is_not_shown_in_the_second(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "other.md").write_text(LESSON.replace("sentence: the cat sat\n", ""))
    for second in ("other", "own"):
        monkeypatch.setattr("streamlit.session_state", {})
        lecture_mode.start("own")
        LECTURE.forget()
        SENTENCE.choose("typed")
        lecture_mode.start(second)
        assert SENTENCE.value == ("the cat sat" if second == "own" else "")
        shown_scene.show(1)
        assert SENTENCE.value == ("the cat sat" if second == "own" else "")
        SENTENCE.choose("typed in the lesson")
        AS_TYPED.choose(True)
        shown_scene.show(1)
        assert (SENTENCE.value, AS_TYPED.value) == ("typed in the lesson", True)
        shown_scene.show(2)  # it has a sentence of its own
        assert (SENTENCE.value, AS_TYPED.value) == ("a b c", False)


def test_a_page_that_is_loaded_again_keeps_what_was_changed(lecture: Open) -> None:
    app = lecture(1, "attention", kind="encoder", layer="2")
    assert app.title[0].value == "First"
    assert (chosen(app, "kind"), chosen(app, "layer")) == ("encoder", "2")


def test_back_opens_the_scene_of_the_address(lecture: Open) -> None:
    app = lecture(1)
    switch_page(app, "masks")
    app.query_params["lecture"], app.query_params["lesson"], app.query_params["scene"] = "1", "own", "3"
    app.run()
    assert app.title[0].value == "Third"
    assert app.text_input(key="sentence").value == "a b c"
    assert component_data(app)["question"]
    assert not component_data(app)["is_asked"]


def test_back_opens_the_scene_before_on_the_same_page_too(lecture: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    app = lecture(2)
    assert app.title[0].value == "Second"
    app.query_params["scene"] = "1"
    app.run()  # a click; only the address of the browser is older
    assert app.title[0].value == "Second"
    monkeypatch.setattr(address, "is_history_navigation", lambda: True)
    app.query_params["scene"] = "1"
    app.run()
    assert app.title[0].value == "First"
    assert component_data(app)["place"] == 0


def test_a_lesson_that_is_gone_is_named(open_app: Open) -> None:
    app = open_app("translate", lecture="1", lesson="own-gone", scene="3")
    assert "There is no lesson “own-gone” here." in page_text(app)
    assert component_data(app)["lesson"] == ""


def test_a_key_on_the_page_that_is_left_does_not_lead_back(lecture: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """The browser still has the address of the scene before, because the next one is being opened."""
    app = switch_page(lecture(1), "attention")
    address, pressed = dict(app.query_params), [("scene", 2)]

    def keys(*state: object, on_choose: Callable[[str, int], None], **more: object) -> None:
        while pressed:
            on_choose(*pressed.pop())

    monkeypatch.setattr("app.components.lecture", keys)
    app.run()
    assert app.run().title[0].value == "Third"
    app.query_params.clear()
    for key, value in address.items():
        app.query_params[key] = value
    assert app.run().title[0].value == "Third"
    assert chosen(app, "scene") == "3"


def test_a_key_between_two_pages_does_not_lead_back(lecture: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """The browser still shows the page of the scene before, at the address that the server has given it since."""
    app, pressed, addresses = switch_page(lecture(2), "attention"), [("scene", 2)], []
    open_page = st.switch_page

    def keys(*state: object, on_choose: Callable[[str, int], None], **more: object) -> None:
        while pressed:
            on_choose(*pressed.pop())

    def recorded(page: Any, *, query_params: dict[str, str]) -> None:
        addresses.append(query_params)
        open_page(page, query_params=query_params)

    monkeypatch.setattr("app.components.lecture", keys)
    monkeypatch.setattr(st, "switch_page", recorded)
    app.run()
    assert app.run().title[0].value == "Third"
    app.query_params.clear()
    for key, value in addresses[0].items():
        app.query_params[key] = value
    assert app.run().session_state["page"] == "masks"
    assert app.title[0].value == "Third"


def test_what_the_page_before_reports_does_not_change_the_scene(lecture: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """It comes after the key and before the next scene is drawn, with the values of the widgets of the page before."""
    app, pressed = switch_page(lecture(1), "attention").run(), [("scene", 2)]
    reported = app._tree.get_widget_states()

    def keys(*state: object, on_choose: Callable[[str, int], None], **more: object) -> None:
        if pressed:
            on_choose(*pressed.pop())
            st.stop()

    monkeypatch.setattr("app.components.lecture", keys)
    app.run()
    app._run(reported)
    assert app.title[0].value == "Third"
    assert (chosen(app, "checkpoint"), app.text_input(key="sentence").value) == ("small", "a b c")
    assert chosen(app, "layer") == "1"
    app.text_input(key="sentence").set_value("c b a")
    switch_page(app, "masks").run()
    assert app.text_input(key="sentence").value == "c b a"


def test_the_presenter_has_the_notes_and_no_picture(lecture: Open) -> None:
    app = lecture(1, presenter="1")
    assert not app.exception
    assert not app.text_input
    (notes,) = components(app, "presenter")
    assert [each["title"] for each in notes["scenes"]] == ["First", "Second", "Third", "Fourth"]
    assert notes["scenes"][0]["notes"] == "Notes of the first."


def test_a_presenter_without_a_lesson_is_told_how_to_open_one(open_app: Open) -> None:
    app = open_app(presenter="1", lesson="../secret")
    assert not app.exception
    assert "no such lesson" in app.text[0].value
