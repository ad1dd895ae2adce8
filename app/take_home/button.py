"""The button that makes what a class takes home: it draws the scenes, shows its progress, and offers the files."""

import re
from collections.abc import Sequence
from datetime import date

import streamlit as st

from app.languages import _, ngettext
from app.lessons.lesson_file import LessonScene
from app.pages import info
from app.stage.checkpoint_choice import uploads
from app.state import address
from app.state.choices import CHECKPOINT, SENTENCE
from app.take_home.exercise_sheet import exercise_sheet
from app.take_home.exercises import exercises
from app.take_home.files import MOST_BYTES, Files, trace_file, trace_notebook
from app.take_home.hand_out import HandOut, hand_out
from app.take_home.handed_scenes import handed_scenes, sources

_FILES = "take_home_files"  # in the session: the files of the window that is open


def take_home_button(
    scenes: Sequence[LessonScene], title: str, about: str = "", *, key: str, language: str = ""
) -> None:
    """A button that opens a window over the page: it draws the scenes, which takes up to some seconds each, and then
    has a button for each file.

    Args:
        scenes: in the order in which they are shown.
        title: of the first page, and the name of the files.
        about: a paragraph below the title.
        key: of the button; nothing else on the page may have it.
        language: of the lesson; "": that of the interface.
    """
    words = _("One HTML file that works without a network, exercises, and the tensors")
    if st.button(_("Take home …"), key=key, help=words):
        open_take_home(scenes, title, about, language)


def open_take_home(scenes: Sequence[LessonScene], title: str, about: str = "", language: str = "") -> None:
    """Opens the window of `take_home_button`."""
    _forget()
    st.dialog(_("Take home"), on_dismiss=_forget)(_window)(tuple(scenes), title, about, language)


def _forget() -> None:
    """Removes the files from memory: the tensors of a lesson may have 20 MB."""
    st.session_state.pop(_FILES, None)


def take_home_page() -> None:
    """The button for the page that is open, in its present state."""
    page = st.session_state[address.PAGE]
    link = address.link_texts(page)
    sentence = link.pop(SENTENCE.key, "") or SENTENCE.value
    checkpoint = link.pop(CHECKPOINT.key, CHECKPOINT.value)
    question = _(info(page).question)
    scene = LessonScene(question, 1, page, link, checkpoint, sentence, "", "", "", 0)
    take_home_button([scene], question, key="take_home")


def _window(scenes: Sequence[LessonScene], title: str, about: str, language: str) -> None:
    """The files are made once, however often the window is drawn."""
    if _FILES not in st.session_state:
        st.session_state[_FILES] = _made(scenes, title, about, language)
    files: Files = st.session_state[_FILES]
    st.text(
        _(
            "Files for the class, to open on their own computers. The HTML file has the pictures of the scenes, with "
            "their numbers."
        )
    )
    for label, ending, content, kind in files.listed:
        st.download_button(label, content, f"{files.name}{ending}", kind, key=f"take_home{ending}", on_click="ignore")
    if files.too_large:
        st.caption(
            _(
                "There is no file of the tensors: they are larger than {most} MB. A shorter sentence has smaller ones.",
                most=MOST_BYTES // 10**6,
            )
        )


def _made(scenes: Sequence[LessonScene], title: str, about: str, language: str) -> Files:
    progress = st.progress(0.0, ngettext("Drawing {count} scene …", "Drawing {count} scenes …", len(scenes)))
    handed = []
    for number, one in enumerate(handed_scenes(scenes, uploads()), start=1):
        handed.append(one)
        words = _("{number} of {count}: {title}", number=number, count=len(scenes), title=one.scene.title)
        progress.progress(number / len(scenes), words)
    progress.empty()
    today = date.today()
    name = re.sub(r"[^\w-]+", "-", title).strip("-").lower()[:60] or "lesson"
    text = hand_out(HandOut(title, about, today, sources(handed), [one.scene for one in handed], language))
    translated = next((one.of for one in handed if one.of), None)
    if translated is None:
        return Files(name, text)
    found = exercises([one.of for one in handed if one.of])
    sheet = exercise_sheet(title, today, sources(handed, of_data=False), found)
    tensors = trace_file(translated)
    return Files(name, text, sheet, tensors, trace_notebook(f"{name}.npz", translated) if tensors else "")
