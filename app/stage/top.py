"""The common top of every page: sidebar, sentence box, controls, translation. The page is drawn below it."""

from collections.abc import Callable

import streamlit as st

from app.pages import PageInfo
from app.stage import playback, sentence, sidebar
from app.stage.controls import Controls, controls
from app.stage.headline import headline
from app.stage.scene import NoScene, Scene, Selection, scene_of
from app.stage.search_settings import search_settings
from app.stage.section import redrawn
from app.stage.template import next_question, question
from app.state.choices import ALTERNATIVE, GIVEN, GIVEN_IDS, PLAYS, PRIVATE, SCENE, SHOWN_SENTENCE

DrawPage = Callable[[Scene | None, Controls | None], None]


def draw_top(page: PageInfo) -> Scene | None:
    """Draws the sidebar and the sentence box, and translates. None: it has said why there is no translation."""
    sidebar.take_upload()
    subject = sidebar.sidebar()
    sidebar.upload_problem()
    if subject is None:
        return None
    settings = search_settings(subject.translator.settings)
    text = sentence.sentence_box(subject)
    selection = Selection(SHOWN_SENTENCE.value, ALTERNATIVE.value, GIVEN.value, GIVEN_IDS.value)
    try:
        with st.spinner("Translating …", show_time=True):
            scene = scene_of(subject, text, settings, selection)
    except NoScene as reason:
        sentence.say(reason)
        return None
    sentence.list_sentences(scene)
    return scene


def draw_page(page: PageInfo, scene: Scene | None, draw: DrawPage) -> None:
    """Draws the controls and the page, as a fragment: what is chosen on the page draws it again without the top."""

    def body() -> None:
        if scene and page.has_headline:
            headline(scene)
        question(page)
        chosen = controls(scene) if scene and page.has_controls else None
        draw(scene, chosen)
        next_question(page)

    redrawn(body, (*SCENE, *PRIVATE, PLAYS), run_every=playback.pace(page.name))
