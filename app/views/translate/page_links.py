"""Three links below the first picture to pages that explain it further, and the button that saves the picture."""

from collections.abc import Callable

import streamlit as st

from app.languages import _, gettext_noop
from app.pages import page_named, query
from app.state.choices import MASK_TAKEN

PAGE_LINKS = 4.6  # rem that they take below the picture

_LINKS: tuple[tuple[str, dict[str, str], str, str], ...] = (  # page, what is chosen there, words, icon
    ("training", {}, gettext_noop("See it learn"), ":material/school:"),
    (
        "masks",
        {MASK_TAKEN.key: MASK_TAKEN.write(True)},
        gettext_noop("Take the mask away"),
        ":material/visibility_off:",
    ),
    ("positions", {}, gettext_noop("Shuffle the words"), ":material/shuffle:"),
)


def page_links(beside: Callable[[], None]) -> None:
    """Draws the three links in one line; `beside` draws what is at its end."""
    with st.container(key="page_links", horizontal=True, vertical_alignment="center", gap="small"):
        for page, chosen, words, icon in _LINKS:
            st.page_link(page_named(page), label=_(words), icon=icon, query_params=query(chosen), width="content")
        beside()
