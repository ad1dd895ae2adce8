"""Which lesson shall I give? A card for each lesson, with a link to its first scene; and a field for a lesson of one's
own. The details have the scenes of a lesson with its notes, and show how a lesson is written."""

import streamlit as st

from app.languages import _, gettext_noop, ngettext
from app.lessons.lesson_file import Lesson
from app.library.lessons import ListedLesson, Origin, lessons
from app.pages import page_named, query
from app.stage.scene import Scene
from app.stage.template import details, say
from app.views.lessons.own_lesson import own_lesson, uploader
from app.views.lessons.scenes_section import how_to_write, scenes

MOST_MISTAKES = 40  # listed per file
CAPTIONS: dict[Origin, str] = {
    "included": gettext_noop("{minutes}, {scenes}"),
    "your folder": gettext_noop("{minutes}, {scenes}, your folder"),
    "uploaded": gettext_noop("{minutes}, {scenes}, uploaded"),
}


def draw(_scene: Scene | None) -> None:
    """Draws the page from top to bottom."""
    listed, own = lessons(), own_lesson()
    found = [*([own] if own else []), *listed.values()]
    with st.container(key="cards"):  # see page.css
        for each in found:
            if each.lesson:
                _card(each)
        with st.container(key="own_lesson", border=True):
            uploader()
    for each in found:
        if each.mistakes:
            _mistakes(each)
    say(_("A lesson is a series of pages of this app: the arrow keys open its scenes one after the other."))
    details(lambda: _details([each for each in found if each.lesson]))


def _card(listed: ListedLesson) -> None:
    lesson = listed.lesson
    assert lesson
    with st.container(key=f"lesson_{listed.name}", border=True):
        with st.container(key=f"lesson_head_{listed.name}", horizontal=True, vertical_alignment="center", gap="small"):
            with st.container(key=f"title_{listed.name}", gap=None):
                st.text(lesson.title)
                st.caption(_length(listed.origin, lesson))
            first = lesson.scenes[0]
            chosen = {"lecture": "1", "lesson": listed.name, "scene": "1"}
            st.page_link(
                page_named(first.page),
                label=_("Start"),
                icon=":material/play_arrow:",
                query_params=query(first.link | chosen),
            )
        st.text(lesson.about)


def _length(origin: Origin, lesson: Lesson) -> str:
    """Minutes and number of scenes of a lesson, and where it comes from."""
    many = 1 if lesson.minutes == 1 else 2  # of a fraction, such as 1.5, the plural
    minutes = ngettext("{minutes:g} minute", "{minutes:g} minutes", many, minutes=lesson.minutes)
    scenes = ngettext("{count} scene", "{count} scenes", len(lesson.scenes))
    return _(CAPTIONS[origin], minutes=minutes, scenes=scenes)


def _mistakes(listed: ListedLesson) -> None:
    """The mistakes of a file, as plain text because they quote it."""
    count = len(listed.mistakes)
    with st.container(key=f"text_mistakes_{listed.name}", border=True, gap=None):
        file = _("Your file") if listed.origin == "uploaded" else listed.file
        if listed.lesson is None:
            st.text(ngettext("{file} has one mistake.", "{file} has {count} mistakes.", count, file=file))
        else:
            st.text(
                ngettext(
                    "{file} can be opened, but has one mistake.", "{file} can be opened, but has {count} mistakes.",
                    count, file=file,
                )
            )  # fmt: skip
        for mistake in listed.mistakes[:MOST_MISTAKES]:
            st.text(str(mistake))
        if count > MOST_MISTAKES:
            st.text(_("and {count} more", count=count - MOST_MISTAKES))


def _details(found: list[ListedLesson]) -> None:
    if found:
        scenes(found)
    how_to_write()
