"""The places of a page: the parts of the line at the top, and what is below it.

Before torch is imported, first_visit.py fills these places, afterwards top.py: nothing moves in between.
"""

from collections.abc import Callable
from typing import NamedTuple

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app.languages import _
from app.pages import PageInfo
from app.stage.page_menu import page_menu
from app.stage.section import redrawn
from app.stage.template import next_question, question, words
from app.state.choices import PRIVATE, SCENE

Later = Callable[[], None] | None


class TopLine(NamedTuple):
    """The places of the line at the top, from left to right.

    `progress` is for "Translating …", which is drawn over the page; `below` is the place below the line.
    """

    box: DeltaGenerator
    examples: DeltaGenerator
    checkpoints: DeltaGenerator
    menu: DeltaGenerator
    progress: DeltaGenerator
    below: DeltaGenerator


def top_line(page: PageInfo) -> TopLine:
    """Draws the list of pages and gives the other places."""
    with st.container(key="top", horizontal=True, vertical_alignment="center", gap="small"):
        page_menu(page)
        box = st.container(key="box", width="stretch")
        examples = st.container(key="examples", width="content")
        checkpoints = st.container(key="checkpoints", width="content")
        with st.container(key="menu", width="content"):
            menu = st.popover(_("Menu"), type="tertiary", icon=":material/menu:", key="menu_popover")
        progress = st.container(key="progress")
    return TopLine(box, examples, checkpoints, menu, progress, st.container(key="below_top", gap="small"))


def page_body(
    page: PageInfo,
    translation: Callable[[], Later] | None,
    draw: Callable[[], None] | None,
    beside_heading: Callable[[], None] | None = None,
) -> None:
    """Draws the page as a fragment: a choice on the page draws the page again, but not the top.

    Args:
        translation: draws the line with the translation. It may return a function that adds to the line what takes
            longer; that is called after the content has been drawn. None: the page has no such line.
        draw: draws the content below the question. None: neither the content nor the link to the next question can be
            drawn yet.
        beside_heading: draws what is beside the question; None: nothing is.
    """

    def body() -> None:
        later: Later = None
        if translation:
            with st.container(key="headline", horizontal=True, vertical_alignment="center", gap="small"):
                later = translation()
        question(page, beside_heading)
        if draw:
            draw()
            next_question(page)
            words()
        if later:
            later()

    redrawn(body, (*SCENE, *PRIVATE))
