"""The common top of every page: one line with the sentence, and the translation below it. The page is drawn below.

Headlight (all pages) | sentence | examples | checkpoint | menu
the translation, as tokens                                        what the doctor finds
the question of the page                            what is edited in the model, if anything is
"""

from contextlib import suppress
from functools import partial

import streamlit as st

from app.classroom import lecturer
from app.compute.subject import Subject
from app.languages import _, language
from app.languages.catalogues import ENGLISH
from app.library import checkpoints
from app.pages import FIRST, PageInfo
from app.stage import sentence
from app.stage.checkpoint_choice import checkpoint_choice, opened, snapshot_slider
from app.stage.edits_line import edited, edits_notice
from app.stage.frame import Later, page_body, top_line
from app.stage.guess_line import guess_line
from app.stage.headline import heading_note, headline
from app.stage.lecture.figure import DrawPage
from app.stage.menu import menu
from app.stage.scene import Scene, Selection, scene_of
from app.stage.text_check import NoScene
from app.state.choices import ALTERNATIVE, AS_TYPED, GIVEN, GIVEN_IDS, SHOWN_SENTENCE
from transformer.config import DecodingConfig


def draw_top(page: PageInfo) -> Scene | None:
    """Draws the line with the sentence, and translates. None: there is nothing to show, and the page says why."""
    line = top_line(page)
    with line.checkpoints:
        file = checkpoint_choice()
    with line.below:
        subject = opened(file, line.progress)
        if not page.has_snapshots:
            snapshot_slider()
        if subject:
            with line.box:
                text = sentence.sentence_box(subject.task)
                sentence.meter(partial(_count, subject))
            with line.examples:
                sentence.examples(subject.task)
        with line.menu:
            settings = menu(subject)
        if subject is None or settings is None:
            return None
        subject = edited(subject, page)
        # Streamlit writes the unit of the time in English
        with line.progress, st.spinner(_("Translating …"), show_time=language() == ENGLISH):
            scene, problem = _scene(subject, text, settings)
        if problem:
            sentence.say_why_not(problem, scene.translation.source if scene else "")
    return scene


def _scene(subject: Subject, text: str, settings: DecodingConfig) -> tuple[Scene | None, str]:
    """The scene of the text in the box, and "". If it has none: that of the last translated sentence or of an example,
    and the reason."""
    shown = SHOWN_SENTENCE.value, ALTERNATIVE.value, GIVEN.value, GIVEN_IDS.value
    selection = Selection(*shown, correct_spelling=not AS_TYPED.value)
    try:
        scene = scene_of(subject, text, settings, selection)
    except NoScene as reason:
        for before in sentence.translated_before(subject.task):
            with suppress(NoScene):
                return scene_of(subject, before, settings, Selection(correct_spelling=True)), str(reason)
        return None, str(reason)
    sentence.translated(text)
    return scene, ""


def _count(subject: Subject, text: str) -> tuple[int, int, int]:
    return *checkpoints.tokens_needed(subject.file, text), checkpoints.most_tokens(subject.translator)


def draw_page(page: PageInfo, scene: Scene | None, draw: DrawPage) -> None:
    """Draws the page below the top."""

    def translation() -> Later:
        if scene and page.has_headline:
            headline(scene, written=page.name == FIRST)
        return guess_line(scene) if scene and not scene.is_given else None

    def beside_heading() -> None:
        if scene and page.needs_scene and not page.has_headline:
            heading_note(scene)
        if scene:
            edits_notice(scene, page)

    def drawn() -> None:
        draw(scene)
        lecturer.publish_page(page, scene)

    has_line = scene and (page.needs_scene or page.has_headline)
    page_body(page, translation if has_line else None, drawn, beside_heading if scene else None)
