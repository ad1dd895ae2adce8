"""The lesson that a visitor uploaded, and the field for it."""

import streamlit as st

from app.languages import _
from app.lessons.lesson_file import MOST_BYTES
from app.library.lessons import ListedLesson, lesson_named, store_upload

_OWN, _TAKEN = "own_lesson_name", "taken_lesson"  # keys of the session


def own_lesson() -> ListedLesson | None:
    """The last lesson that the visitor uploaded, if the server still has it."""
    given = st.session_state.get("lesson_upload")
    if given is not None and st.session_state.get(_TAKEN) != given.file_id:
        st.session_state[_TAKEN] = given.file_id
        st.session_state[_OWN] = store_upload(given.getvalue()).name
    name = st.session_state.get(_OWN)
    return lesson_named(name) if name else None


def uploader() -> None:
    """Draws the field."""
    with st.container(key="title_own_lesson"):
        st.text(_("Your own lesson"))
    st.file_uploader(
        _("A text file, written as the details below say; all its mistakes are listed with their lines"),
        type=["md", "txt"],
        max_upload_size=MOST_BYTES // 1_000_000,
        key="lesson_upload",
    )
