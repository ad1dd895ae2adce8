"""Draws the question of a scene over its picture, once the lecturer has asked it. Phones that follow can answer it too.
When the lecturer reveals the right answer, the phones show it, and how many chose each answer."""

import streamlit as st

from app.classroom import lecturer
from app.languages import _, with_label
from app.stage.lecture import shown_scene
from app.stage.question_card import is_revealed, question_card, question_of
from app.stage.scene import Scene


def draw(scene: Scene | None) -> None:
    """Draws the card, if the question is asked, and tells the class what the scene shows."""
    of_lesson = shown_scene.scene()
    if of_lesson is None:
        return
    if scene and shown_scene.is_asked():
        with st.container(key="lecture_question"):
            st.fragment(_card)(scene, of_lesson.question)
    else:
        lecturer.publish_scene(of_lesson, scene)


def _card(scene: Scene, asked: str) -> None:
    if not shown_scene.is_asked():
        st.rerun()  # without the card: its answer is shown in the picture
    question, of_lesson = question_of(scene, asked), shown_scene.scene()
    question_card(scene, asked, key="card_of_lecture", alone=False, by_keys=True, on_show=_take_away)
    if of_lesson is None:
        return
    if question is None:
        lecturer.publish_scene(of_lesson, scene)
    elif not is_revealed(scene, asked):
        lecturer.publish_scene(of_lesson, scene, question)
    elif totals := lecturer.reveal(question):
        counted = zip(question.answers, totals, strict=True)
        listed = ", ".join(with_label(answer, total) for answer, total in counted)
        st.text(_("Answers of the class: {answers}", answers=listed))


def _take_away() -> None:
    shown_scene.ask(asked=False)
