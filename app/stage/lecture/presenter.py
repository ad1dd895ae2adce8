"""The presenter's window: `?presenter=1&lesson=NAME`. It shows only texts, so it needs no model."""

from dataclasses import asdict

import streamlit as st

from app import components
from app.languages import _
from app.library.lessons import lesson_named
from app.state import address
from app.state.lecture_choices import LESSON

_SHOWN = ("title", "minutes", "text", "notes", "question")  # of each scene


def draw() -> None:
    """Draws the notes of the lesson that the address names."""
    listed = lesson_named(LESSON.value)
    found = listed.lesson if listed else None
    if found is None:
        st.text(_("There is no such lesson. To open this window from a lecture, press the key ? in the lecture."))
        return
    scenes = [{name: asdict(scene)[name] for name in _SHOWN} for scene in found.scenes]
    lesson = {"name": LESSON.value, "title": found.title, "minutes": found.minutes, "scenes": scenes}
    components.presenter(lesson, key="presenter_notes")
    address.write()
