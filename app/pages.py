"""The pages of the app: a new page is a line here and a folder `app/views/NAME` with a function `draw` in page.py."""

from dataclasses import dataclass
from typing import Literal, NoReturn

import streamlit as st
from streamlit.navigation.page import StreamlitPage

Group = Literal["Watch", "Attention", "Inside", "Decoding", "Learning", "Experiment"]


@dataclass(frozen=True)
class PageInfo:
    """A page, and what of the common top it has.

    Attributes:
        name: in the address, and of its folder.
        title: in the menu.
        group: where it is in the menu.
        question: which it answers; the heading of the page, and the title of the browser's tab.
        needs_scene: it shows nothing without a translation. Other pages are given None then.
        has_headline: the translation is written above it, if it needs one.
    """

    name: str
    title: str
    group: Group
    question: str
    needs_scene: bool = True
    has_headline: bool = True


PAGES = (
    PageInfo("translate", "Translate", "Watch", "How is my sentence translated?"),
    PageInfo("steps", "Step by step", "Watch", "What happens to the numbers on the way?"),
    PageInfo("attention", "Attention", "Attention", "What does each word attend to?"),
    PageInfo("hand", "Query, key, value", "Attention", "How is one weight computed?"),
    PageInfo("multihead", "Heads", "Attention", "Why several heads?"),
    PageInfo("masks", "Masks", "Attention", "Why must it not look ahead?"),
    PageInfo("positions", "Positions", "Inside", "How does it know the order of words?"),
    PageInfo("residual", "Residual stream", "Inside", "What flows through the layers?"),
    PageInfo("scaling", "Scaling and softmax", "Inside", "Why divide by the square root of d_k?"),
    PageInfo("decoding", "Decoding", "Decoding", "How is the next word chosen?"),
    PageInfo("training", "Training", "Learning", "How did it learn?", needs_scene=False),
    PageInfo(
        "models",
        "Models",
        "Learning",
        "Which models are there, how good, and what differs?",
        needs_scene=False,
    ),
    PageInfo(
        "whatif",
        "What if",
        "Experiment",
        "What if a part were missing or different?",
        has_headline=False,
    ),
    PageInfo("compare", "Compare", "Experiment", "What differs between two translations?", has_headline=False),
    PageInfo(
        "beside",
        "Side by side",
        "Experiment",
        "How does the same page look for another model?",
        has_headline=False,
    ),
)
FIRST = PAGES[0].name


def info(name: str) -> PageInfo:
    """The page of this name. Raises StopIteration if there is none."""
    return next(page for page in PAGES if page.name == name)


def after(page: PageInfo) -> PageInfo:
    """The page whose question comes next; after the last, the first."""
    return PAGES[(PAGES.index(page) + 1) % len(PAGES)]


def page_named(name: str) -> StreamlitPage:
    """The page for Streamlit's navigation. The first one has the address "/", and reserves "/first"."""
    title = info(name).title
    if name == FIRST:
        return st.Page(_drawn_by_main, title=title, url_path="first", default=True)
    return st.Page(_drawn_by_main, title=title, url_path=name)


def go_to(name: str) -> NoReturn:
    """Opens a page and ends this run of the script. What is chosen is kept."""
    st.switch_page(page_named(name))


def _drawn_by_main() -> None:
    """`app.main` draws a page below the common top, so Streamlit has nothing to run."""
