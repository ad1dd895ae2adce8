"""The lesson that is open, the scene that is shown, and the choices of another scene.

A scene is a page with some choices; all other choices have their defaults. A scene that names no sentence has that of
the last scene before it that names one and has the same checkpoint (`sentence_of`). A sentence that the lecturer has
typed stays until a scene names its own.
"""

from collections.abc import Mapping
from contextlib import suppress

import streamlit as st

from app.lessons.lesson_file import Lesson, LessonScene, sentence_of
from app.library.lessons import lesson_named
from app.state import late_reports, pinned_words
from app.state.choices import AS_TYPED, CHOICES, DETAILS, FIGURE, PINS_GIVEN, SENTENCE
from app.state.edits_aside import put_aside
from app.state.language_choice import LANGUAGE
from app.state.lecture_choices import LECTURE, LESSON, LESSON_SCENE, OF_A_LECTURE

_OPENED_WITH = "sentence of the scene"  # in the session: the lesson, and the sentence that the scene was opened with
_ASKED = "scene whose question is asked"  # in the session: lesson and number
_STAY = (*OF_A_LECTURE, DETAILS, LANGUAGE, PINS_GIVEN)  # choices that no scene changes
# Choices that a scene changes and that the page of the scene before may report once more. FIGURE is in no page
_REPORTED = tuple(choice for choice in CHOICES if choice.written != "session" and choice not in (*_STAY, FIGURE))


def lesson() -> Lesson | None:
    """The lesson that is open; None if no lesson is open, or if the lesson in the address does not exist."""
    found = lesson_named(LESSON.value) if LECTURE.value and LESSON.value else None
    return found.lesson if found else None


def number() -> int:
    """The number of the scene that is shown, from 0."""
    found = lesson()
    return _number_in(found) if found else 0


def _number_in(found: Lesson) -> int:
    return min(LESSON_SCENE.value, len(found.scenes) - 1)


def scene() -> LessonScene | None:
    """The scene that is shown; None without a lesson."""
    found = lesson()
    return found.scenes[_number_in(found)] if found else None


def name() -> str:
    """A name of the shown scene that no other scene of any lesson has; "" without a lesson. Pictures that move begin
    again when it changes."""
    return f"{LESSON.value} {number()}" if lesson() else ""


def title() -> str:
    """The title of the scene; "" without a lesson."""
    found = scene()
    return found.title if found else ""


def ask(*, asked: bool) -> None:
    """Asks the class the question of the scene, or stops asking it."""
    st.session_state[_ASKED] = (LESSON.value, number()) if asked else None


def is_asked() -> bool:
    """Whether the scene has a question and the class is asked it now."""
    found = scene()
    return bool(found and found.question) and st.session_state.get(_ASKED) == (LESSON.value, number())


def own_sentence() -> str:
    """The sentence that the lecturer has typed in place of the one of the scene; "" if there is none."""
    lesson, before = st.session_state.get(_OPENED_WITH, ("", ""))
    return SENTENCE.value if SENTENCE.is_chosen and lesson == LESSON.value and SENTENCE.value != before else ""


def forget_own_sentence() -> None:
    """A sentence that is in the box when a lesson is opened does not belong to the lesson."""
    st.session_state.pop(_OPENED_WITH, None)


def choices_of(found: Lesson, index: int) -> dict[str, str]:
    """All that a scene (its number from 0) chooses, as texts by the keys of the address."""
    shown = found.scenes[index]
    own = "" if shown.sentence else own_sentence()
    sentence = shown.sentence or own or sentence_of(found.scenes, index)
    as_typed = {AS_TYPED.key: "true"} if own and AS_TYPED.value else {}
    return shown.link | as_typed | ({SENTENCE.key: sentence} if sentence else {})


def choose(texts: Mapping[str, str]) -> None:
    """Chooses what a scene names, and forgets what else was chosen."""
    for choice in CHOICES:
        if choice not in _STAY:
            choice.forget()
            with suppress(KeyError, ValueError, IndexError):
                choice.choose(choice.read(texts[choice.key]))


def show(index: int) -> str:
    """Chooses what a scene (its number from 0) shows, before anything is drawn. Returns the name of its page."""
    found = lesson()
    if found is None:
        raise ValueError("no lesson is open")
    own = own_sentence()
    with put_aside():
        choose(choices_of(found, index))
    ask(asked=False)
    pinned_words.forget_scene()
    PINS_GIVEN.choose(PINS_GIVEN.value + 1)  # tells a picture that is already drawn to pin and unpin words
    keeps_own = own and not found.scenes[index].sentence
    sentence = sentence_of(found.scenes, index) if keeps_own else SENTENCE.value
    st.session_state[_OPENED_WITH] = LESSON.value, sentence
    LESSON_SCENE.choose(index)
    late_reports.expect(*_REPORTED)
    return found.scenes[index].page
