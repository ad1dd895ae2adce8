"""A page in front of a class: its title, translation, picture and sentences in one window, driven by keys.

lecture.css hides what a lecture does not show, and sets the size of the type. The keys are in app/components/lecture.
To show a scene of a lesson, this file makes the choices that the scene names and opens its page.
"""

from contextlib import suppress
from pathlib import Path
from typing import Any

import streamlit as st

from app import components
from app.languages import _
from app.pages import PAGES, PageInfo, go_to
from app.stage.lecture import shown_scene
from app.state import address, late_reports
from app.state.choice import Choice
from app.state.choices import FIGURE, SENTENCE
from app.state.language_choice import LANGUAGE
from app.state.lecture_choices import LECTURE, LESSON, LESSON_SCENE, OF_A_LECTURE

HERE = Path(__file__).parent
_KEY = "lecture_keys"
_PAGE = "page that is opened next"  # in the session: its name
_LEFT = "scene that was left"  # in the session: its page and number
# In the session
_TAKE_HOME_ASKED, _CODE_ASKED = "what the class takes home is asked for", "the code of the class is asked for"


def arrive(page: PageInfo) -> None:
    """At the start of a run: reads the address, and opens the page that a key or the address has asked for."""
    late_reports.restore()
    before = st.session_state.get(address.PAGE)
    wanted: str | None = st.session_state.get(_PAGE)
    if wanted is None and before != page.name and _is_late(page):
        wanted = before
    if wanted not in (None, page.name):
        go_to(str(wanted), _scene_that_was_left())
    st.session_state.pop(_PAGE, None)
    address.arrive(page.name)
    is_opened = before != page.name or address.is_history_navigation()  # "back" may lead to a scene of the same page
    if wanted is None and is_opened and _is_another_scene(is_new=before is None):
        wanted = shown_scene.show(shown_scene.number())
        if wanted != page.name:
            go_to(wanted)


def _is_late(page: PageInfo) -> bool:
    """Whether this run was requested by the page of the scene before, which the browser still showed.

    Trap: the browser sends its address with each key and click. While the next scene is opened, that address is still
    the one of the scene that was left, and would lead back there
    (test_a_key_on_the_page_that_is_left_does_not_lead_back). Streamlit first gives the page that is left the address
    of the next one, without its path. So that address names the scene that was left, too, until the next one is drawn
    (test_a_key_between_two_pages_does_not_lead_back).
    """
    if shown_scene.lesson() is None or address.is_history_navigation():
        return False
    return st.session_state.get(_LEFT) == (page.name, LESSON.value, st.query_params.get(LESSON_SCENE.key, "1"))


def _scene_that_was_left() -> dict[str, str]:
    """Its lesson and number, as an address has them."""
    _page, lesson, number = st.session_state.get(_LEFT, ("", "", ""))
    return {LESSON.key: lesson, LESSON_SCENE.key: number} if lesson else {}


def _is_another_scene(*, is_new: bool) -> bool:
    """Whether the address of a page that has just been opened names a scene that is not shown yet.

    Args:
        is_new: the visitor has just come. If the address of a new visitor has other choices too, for example when the
            page is loaded again, it is kept as it is.
    """
    if LESSON.key not in st.query_params:
        return False
    if is_new:
        others = set(st.query_params) - {choice.key for choice in (*OF_A_LECTURE, LANGUAGE)}
        return not others and shown_scene.lesson() is not None
    before = (LECTURE.value, LESSON.value, LESSON_SCENE.value)
    named: tuple[Choice[Any], ...] = (LECTURE, LESSON, LESSON_SCENE)
    for choice in named:
        choice.forget()
        with suppress(KeyError, ValueError, IndexError):
            choice.choose(choice.read(st.query_params[choice.key]))
    return before != (LECTURE.value, LESSON.value, LESSON_SCENE.value) and shown_scene.lesson() is not None


def start(lesson: str) -> None:
    """In a callback: opens a lesson, by its name in the library, at its first scene."""
    LECTURE.choose(True)
    LESSON.choose(lesson)
    shown_scene.forget_own_sentence()
    if shown_scene.lesson():
        st.session_state[_PAGE] = shown_scene.show(0)


def draw(page: PageInfo) -> None:
    """Draws what listens to the keys, and in a lecture the line at the bottom."""
    found, scene = shown_scene.lesson(), shown_scene.scene()
    if LECTURE.value:
        st.html(HERE / "lecture.css")
    if found:
        st.html(HERE / "lesson.css")
    elif LECTURE.value and LESSON.value:
        st.warning(
            _(
                "There is no lesson “{name}” here. An uploaded lesson is gone when the server is started again: upload "
                "it again on the page Lessons.",
                name=LESSON.value,
            )
        )
    place, count = PAGES.index(page), len(PAGES)
    if found:
        place, count = shown_scene.number(), len(found.scenes)
    components.lecture(
        components.LectureState(
            is_on=LECTURE.value,
            lesson=LESSON.value if found else "",
            place=place,
            count=count,
            text=scene.text if scene else "",
            question=bool(scene and scene.question),
            is_asked=shown_scene.is_asked(),
            own=shown_scene.own_sentence() if found else "",
        ),
        key=_KEY,
        on_choose=_choose,
        on_kept=SENTENCE.choose,
    )
    if st.session_state.pop(_TAKE_HOME_ASKED, False) and found:
        from app.take_home.button import open_take_home  # imports torch, which the first visit does not wait for

        open_take_home(found.scenes, found.title, found.about, found.language)
    if st.session_state.pop(_CODE_ASKED, False):
        from app.classroom.class_panel import open_and_show_code  # imports torch, too

        open_and_show_code()


def _choose(name: str, index: int) -> None:
    """A key has been pressed."""
    if name == "scene" and shown_scene.lesson():
        left = LESSON_SCENE.write(LESSON_SCENE.value)
        st.session_state[_LEFT] = (st.session_state.get(address.PAGE), LESSON.value, left)
        st.session_state[_PAGE] = shown_scene.show(index)
    elif name == "question":
        shown_scene.ask(asked=bool(index))
    elif name in ("take_home", "class"):
        st.session_state[_TAKE_HOME_ASKED if name == "take_home" else _CODE_ASKED] = True
    elif name == "page":
        FIGURE.forget()
        st.session_state[_PAGE] = PAGES[index].name
    elif name == "lecture" and index:
        LECTURE.choose(True)
    elif name == "lecture":
        for choice in (*OF_A_LECTURE, FIGURE):
            choice.forget()
