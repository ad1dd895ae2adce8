"""The pages of the app: a new page is a line here and a folder `app/views/NAME` with a function `draw` in page.py."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NoReturn

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from app.languages import _, gettext_noop, language
from app.languages.catalogues import ENGLISH
from app.languages.spoken import KEY

Group = Literal["Watch", "Attention", "Inside", "Decoding", "Learning", "Experiment", "Teach"]
WATCH: Group = gettext_noop("Watch")
ATTENTION: Group = gettext_noop("Attention")
INSIDE: Group = gettext_noop("Inside")
DECODING: Group = gettext_noop("Decoding")
LEARNING: Group = gettext_noop("Learning")
EXPERIMENT: Group = gettext_noop("Experiment")
TEACH: Group = gettext_noop("Teach")


@dataclass(frozen=True)
class PageInfo:
    """A page, and which parts of the common top it has. Its texts are English here and translated where they are drawn.

    Attributes:
        name: the name in the address, and that of its folder.
        title: the title in the menu.
        group: where it is in the menu.
        question: the question that the page answers: the heading of the page, and the title of the browser's tab.
        needs_scene: without a translation it shows nothing. Other pages are drawn with None as their scene then.
        has_headline: the translation is written above it, if there is one.
        has_snapshots: it has a slider of its own for the snapshots of a training run.
        figures: the figures of its details that a scene of a lesson can show in place of the picture; the table
            FIGURES in `app/views/NAME/figures_of_details.py` has them.
    """

    name: str
    title: str
    group: Group
    question: str
    needs_scene: bool = True
    has_headline: bool = True
    has_snapshots: bool = False
    figures: tuple[str, ...] = ()


PAGES = (
    PageInfo("translate", gettext_noop("Translate"), WATCH, gettext_noop("How is my sentence translated?")),
    PageInfo("steps", gettext_noop("Step by step"), WATCH, gettext_noop("What happens to the numbers on the way?")),
    PageInfo("attention", gettext_noop("Attention"), ATTENTION, gettext_noop("What does each word attend to?")),
    PageInfo("hand", gettext_noop("Query, key, value"), ATTENTION, gettext_noop("How is one weight computed?")),
    PageInfo("multihead", gettext_noop("Heads"), ATTENTION, gettext_noop("Why several heads?")),
    PageInfo("masks", gettext_noop("Masks"), ATTENTION, gettext_noop("Why must no token attend to later ones?")),
    PageInfo("positions", gettext_noop("Positions"), INSIDE, gettext_noop("How does it know the order of words?")),
    PageInfo("residual", gettext_noop("Residual stream"), INSIDE, gettext_noop("What flows through the layers?")),
    PageInfo(
        "scaling",
        gettext_noop("Scaling and softmax"),
        INSIDE,
        gettext_noop("Why divide by the square root of d_k?"),
        figures=("additive", "comparisons", "table-1"),
    ),
    PageInfo(
        "decoding",
        gettext_noop("Decoding"),
        DECODING,
        gettext_noop("How is the next word chosen?"),
        figures=("lens", "penalty", "tree"),
    ),
    PageInfo(
        "training",
        gettext_noop("Training"),
        LEARNING,
        gettext_noop("How did it learn?"),
        needs_scene=False,
        has_snapshots=True,
        figures=("label-smoothing", "learning-rate", "loss"),
    ),
    PageInfo(
        "models",
        gettext_noop("Models"),
        LEARNING,
        gettext_noop("Which models are there, how good, and what differs?"),
        needs_scene=False,
        has_headline=False,
    ),
    PageInfo(
        "whatif",
        gettext_noop("What if"),
        EXPERIMENT,
        gettext_noop("What if a part were missing or different?"),
        has_headline=False,
    ),
    PageInfo(
        "compare",
        gettext_noop("Compare"),
        EXPERIMENT,
        gettext_noop("What differs between two translations?"),
        has_headline=False,
    ),
    PageInfo(
        "beside",
        gettext_noop("Side by side"),
        EXPERIMENT,
        gettext_noop("How does the same page look for another model?"),
        has_headline=False,
    ),
    PageInfo(
        "lessons",
        gettext_noop("Lessons"),
        TEACH,
        gettext_noop("Which lesson shall I give?"),
        needs_scene=False,
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
    title = _(info(name).title)
    if name == FIRST:
        return st.Page(_drawn_by_main, title=title, url_path="first", default=True)
    return st.Page(_drawn_by_main, title=title, url_path=name)


def query(chosen: Mapping[str, str] | None = None) -> dict[str, str]:
    """The parameters of a link to another page: what the link chooses there, and the language."""
    return dict(chosen or {}) | ({} if language() == ENGLISH else {KEY: language()})


def go_to(name: str, chosen: Mapping[str, str] | None = None) -> NoReturn:
    """Opens a page and ends this run of the script. What is chosen is kept; `chosen` is in the address at first."""
    st.switch_page(page_named(name), query_params=query(chosen))


def _drawn_by_main() -> None:
    """`app.main` draws a page below the common top, so Streamlit has nothing to run."""
