"""The scenes of a lesson, each with a link that opens it, and how a lesson is written."""

from collections import Counter

import streamlit as st

from app.languages import _
from app.lessons.lesson_file import LessonScene, sentence_of
from app.library.lessons import SHIPPED, ListedLesson
from app.pages import info, page_named, query
from app.state.choices import SENTENCE
from app.state.detail_choices import SCENES_OF
from app.take_home.button import take_home_button

EXAMPLE = "```"  # around the example in README.md


def scenes(found: list[ListedLesson]) -> None:
    """Draws the scenes of one lesson, which is chosen by its title: what each scene shows, its text and its notes."""
    st.subheader(_("Scenes"))
    labels = _labels(found)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = SCENES_OF.open(found[0].name, labels)
        st.selectbox(
            _("Lesson"), list(labels), format_func=labels.__getitem__, key=SCENES_OF.key, persist_state="session",
            width=420,
        )  # fmt: skip
        listed = next(each for each in found if each.name == name)
        st.download_button(_("Save as a file"), listed.content, f"{listed.name}.md", "text/markdown", on_click="ignore")
        lesson = listed.lesson
        assert lesson
        take_home_button(lesson.scenes, lesson.title, lesson.about, key="take_lesson_home", language=lesson.language)
    for number, scene in enumerate(lesson.scenes, 1):
        link = scene.link | {SENTENCE.key: sentence_of(lesson.scenes, number - 1)}
        with st.container(key=f"scene_of_lesson_{number}", horizontal=True, gap="small"):
            st.page_link(page_named(scene.page), label=_("Scene {number}", number=number), query_params=query(link))
            with st.container(key=f"text_scene_{number}", gap=None):
                st.text(_line(scene))
                for text in (scene.text, scene.notes and _("Notes: {notes}", notes=scene.notes)):
                    if text:
                        st.text(text)


def _labels(found: list[ListedLesson]) -> dict[str, str]:
    """The titles by name. Streamlit needs distinct labels, so lessons of the same title have more than their title."""
    counts = Counter(each.title for each in found)
    return {each.name: each.title if counts[each.title] == 1 else _longer_label(each) for each in found}


def _longer_label(listed: ListedLesson) -> str:
    if listed.origin == "uploaded":
        return _("{title} (uploaded)", title=listed.title)
    return _("{title} ({file})", title=listed.title, file=listed.file)


def _line(scene: LessonScene) -> str:
    """Title, length, page and kind of question of a scene."""
    page, minutes = _(info(scene.page).title), scene.minutes
    if not scene.question:
        return _("{title} ({minutes:g} min, {page})", title=scene.title, minutes=minutes, page=page)
    return _(
        "{title} ({minutes:g} min, {page}, question {kind})",
        title=scene.title,
        minutes=minutes,
        page=page,
        kind=scene.question.partition("?")[0],
    )


def how_to_write() -> None:
    """Draws the example of the format, from the file that documents it."""
    st.subheader(_("How a lesson is written"))
    st.text(
        _("Open any page in the state that you want to show; “Save as scene” in the menu writes the scene for you.")
    )
    st.code(example(), language="markdown")


def example() -> str:
    """The example of README.md."""
    return (SHIPPED / "README.md").read_text(encoding="utf-8").split(EXAMPLE)[1].partition("\n")[2]
