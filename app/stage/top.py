"""The common top of every page: one line with the sentence, and the translation below it. The page is drawn below.

Headlight (all pages) | sentence | examples | checkpoint | menu
what is edited in the model, if anything is
the translation, as tokens                                        what the doctor finds
"""

from collections.abc import Callable

import streamlit as st

from app.pages import PageInfo
from app.stage import sentence
from app.stage.checkpoint_choice import checkpoint_choice, opened, snapshot_slider
from app.stage.edits_line import edited
from app.stage.guess_line import guess_line
from app.stage.headline import headline
from app.stage.menu import menu
from app.stage.page_menu import page_menu
from app.stage.scene import NoScene, Scene, Selection, scene_of
from app.stage.section import redrawn
from app.stage.template import next_question, question
from app.state.choices import ALTERNATIVE, GIVEN, GIVEN_IDS, PRIVATE, SCENE, SHOWN_SENTENCE

DrawPage = Callable[[Scene | None], None]


def draw_top(page: PageInfo) -> Scene | None:
    """Draws the line with the sentence, and translates. None: it has said why there is no translation."""
    with st.container(key="top", horizontal=True, vertical_alignment="center", gap="small"):
        page_menu(page)
        box = st.container(key="box", width="stretch")
        examples = st.container(key="examples", width="content")
        with st.container(key="checkpoints", width="content"):
            file = checkpoint_choice()
        with st.container(key="menu", width="content"):
            in_menu = st.popover("Menu", type="tertiary", icon=":material/menu:", key="menu_popover")
    with st.container(key="below_top", gap="small"):
        subject = opened(file)
        snapshot_slider()
        if subject:
            with box:
                text = sentence.sentence_box(subject)
                sentence.meter(subject)
            with examples:
                sentence.examples(subject)
        with in_menu:
            settings = menu(subject)
        if subject is None or settings is None:
            return None
        subject = edited(subject)
        selection = Selection(SHOWN_SENTENCE.value, ALTERNATIVE.value, GIVEN.value, GIVEN_IDS.value)
        try:
            with st.spinner("Translating …", show_time=True):
                scene = scene_of(subject, text, settings, selection)
        except NoScene as reason:
            sentence.say(reason)
            return None
    return scene


def draw_page(page: PageInfo, scene: Scene | None, draw: DrawPage) -> None:
    """Draws the page, as a fragment: what is chosen on the page draws it again without the top."""

    def body() -> None:
        if scene and page.needs_scene:
            with st.container(key="headline", horizontal=True, vertical_alignment="center", gap="small"):
                if page.has_headline:
                    headline(scene)
                guess_line(scene)
        question(page)
        draw(scene)
        next_question(page)

    redrawn(body, (*SCENE, *PRIVATE))
