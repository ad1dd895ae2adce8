"""The pages of the app: a new page is a line here and a folder `app/views/NAME` with a function `draw` in page.py."""

from dataclasses import dataclass
from typing import NoReturn

import streamlit as st
from streamlit.navigation.page import StreamlitPage


@dataclass(frozen=True)
class PageInfo:
    """A page, and what of the common top it has.

    Attributes:
        name: in the address, and of its folder.
        needs_scene: it shows nothing without a translation. Other pages are given None then.
        has_controls: kind, layer, head and tokens are chosen on it.
        has_headline: the translation is written above it.
    """

    name: str
    title: str
    needs_scene: bool = True
    has_controls: bool = True
    has_headline: bool = True


PAGES = (
    PageInfo("translate", "Translate", has_headline=False),
    PageInfo("steps", "Step by step"),
    PageInfo("hand", "One head by hand"),
    PageInfo("attention", "Attention"),
    PageInfo("multihead", "Multi-head"),
    PageInfo("masks", "Masks"),
    PageInfo("residual", "Residual stream"),
    PageInfo("positions", "Positions"),
    PageInfo("scaling", "Scaling and softmax"),
    PageInfo("decoding", "Decoding"),
    PageInfo("training", "Training", needs_scene=False, has_controls=False, has_headline=False),
    PageInfo("models", "Models", needs_scene=False, has_controls=False),
)
FIRST = PAGES[0].name


def page_named(name: str) -> StreamlitPage:
    """The page for Streamlit's navigation. The first one has the address "/", and reserves "/first"."""
    title = next(page.title for page in PAGES if page.name == name)
    if name == FIRST:
        return st.Page(_drawn_by_main, title=title, url_path="first", default=True)
    return st.Page(_drawn_by_main, title=title, url_path=name)


def go_to(name: str) -> NoReturn:
    """Opens a page and ends this run of the script. What is chosen is kept."""
    st.switch_page(page_named(name))


def _drawn_by_main() -> None:
    """`app.main` draws a page below the common top, so Streamlit has nothing to run."""
