"""Chooses what a lecture shows: the page's picture, or a figure of its details that the scene names (`figure=tree`)."""

from collections.abc import Callable
from importlib import import_module

import streamlit as st

from app.components import recording
from app.pages import PageInfo
from app.stage.scene import Scene
from app.state.choices import FIGURE
from app.state.lecture_choices import LECTURE

DrawPage = Callable[[Scene | None], None]


def what_draws(page: PageInfo) -> DrawPage:
    """The function that draws a page below its question, for this visitor."""
    name = FIGURE.value
    if name in page.figures and (LECTURE.value or recording.current()):
        return _framed(import_module(f"app.views.{page.name}.figures_of_details").FIGURES[name])
    found: DrawPage = import_module(f"app.views.{page.name}.page").draw
    return found


def what_prepares(page: PageInfo, figure: str) -> Callable[[Scene], None] | None:
    """The function that computes what a page shows of a scene before it is drawn, if the page has one.

    Args:
        figure: the figure that is shown in place of its picture, if the page has such a figure in its details.
    """
    module = import_module(f"app.views.{page.name}.{'figures_of_details' if figure in page.figures else 'page'}")
    found: Callable[[Scene], None] | None = getattr(module, "prepare", None)
    return found


def _framed(draw: DrawPage) -> DrawPage:
    def drawn(scene: Scene | None) -> None:
        with st.container(key="figure_of_details"):  # see lecture.css
            draw(scene)

    return drawn
