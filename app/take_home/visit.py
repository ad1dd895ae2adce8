"""Draws a page as for a visitor who follows a link, without a browser, and keeps what the page draws.

The page runs in a thread with a session of its own, so what is chosen there affects no visitor. Its results are cached
like those of any visit.
"""

import logging
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from threading import Thread

import streamlit as st
from streamlit.runtime.scriptrunner_utils.exceptions import RerunException, StopException

from app.components.recording import Drawn, recording
from app.figures.tables import Table
from app.languages import language, speaking
from app.library.checkpoints import CheckpointFile
from app.pages import FIRST, PAGES, info, page_named
from app.stage.lecture.figure import what_draws, what_prepares
from app.stage.scene import Scene
from app.state import address, own_session
from app.state.choices import FIGURE

log = logging.getLogger(__name__)
UPLOADS = "uploads"  # in the session, see app/stage/checkpoint_choice.py


@dataclass(frozen=True)
class Seen:
    """What a visitor of a page sees.

    Attributes:
        scene: the translation; None if the page shows none.
        drawn: its components, in the order in which they were drawn.
        tables: (key of the picture, name, columns).
        text_below: the sentences below the picture.
    """

    scene: Scene | None
    drawn: tuple[Drawn, ...]
    tables: tuple[tuple[str, str, Table], ...]
    text_below: str


def see(page: str, link: Mapping[str, str], uploads: Mapping[str, CheckpointFile] | None = None) -> Seen | None:
    """What the page shows to a visitor who follows the link, in the language of this thread; None if it cannot be
    drawn.

    Args:
        link: texts by the keys of the address, with `sentence` and `checkpoint`.
        uploads: the uploaded checkpoints of the visitor who asks for the hand-out; nobody else can open them.
    """
    found: list[Seen] = []
    spoken = language()

    def run() -> None:
        try:
            with speaking(spoken):
                found.append(_visit(page, link, uploads or {}))
        except Exception:
            log.exception("The page %s cannot be drawn for a hand-out.", page)

    thread = Thread(target=run, name="a page for a hand-out", daemon=True)
    thread.start()
    thread.join()
    return found[0] if found else None


def _visit(page: str, link: Mapping[str, str], uploads: Mapping[str, CheckpointFile]) -> Seen:
    pages = own_session.enter("take-home", link)
    pages.set_script_intent("", "" if page == FIRST else page)
    scene = None
    with recording() as record, suppress(StopException, RerunException):
        st.session_state[UPLOADS] = dict(uploads)
        st.navigation([page_named(each.name) for each in PAGES], position="hidden")
        address.arrive(page)
        # Imported by its name when needed: app.stage.top draws the menu, which has the button of this package
        scene = import_module("app.stage.top").draw_top(info(page))
        if scene and (prepare := what_prepares(info(page), FIGURE.value)):
            prepare(scene)  # in a browser, some pages show later what takes long; here they are drawn once
        before = len(record.drawn)
        if scene or not info(page).needs_scene:
            what_draws(info(page))(scene)
    tables = tuple((key, name, dict(table())) for key, name, table in record.tables)
    return Seen(scene, tuple(record.drawn[before:]), tables, " ".join(record.texts_below))
