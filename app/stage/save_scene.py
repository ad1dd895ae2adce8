"""Save as scene: the page in the state that is on the screen, as text for a lesson file."""

import streamlit as st

from app import components
from app.languages import _
from app.lessons.scene_text import scene_text
from app.pages import info
from app.state.address import PAGE, link_texts
from app.state.choices import CHECKPOINT, SENTENCE
from app.state.language_choice import LANGUAGE


def save_scene() -> None:
    """Draws the button; the text is in a window over the page, so that the page cannot change meanwhile."""
    if st.button(_("Save as scene …"), help=_("This page as it is now, as text for a lesson file")):
        st.dialog(_("This page as a scene of a lesson"), width="large")(_window)()


def _window() -> None:
    page = st.session_state[PAGE]
    link = {key: text for key, text in link_texts(page).items() if key != LANGUAGE.key}  # a lesson names its language
    text = scene_text(_(info(page).question), page, link, CHECKPOINT.value, SENTENCE.value or "")
    st.code(text, language=None, wrap_lines=True)
    st.text(_("Paste it into a lesson file. The page Lessons shows how such a file is written, and opens it."))
    with st.container(horizontal=True, gap="small"):
        components.copy_button(text, _("Copy"), _("Copies the text of the scene"), key="copy_scene")
        st.download_button(_("Save as a file"), text, "scene.md", "text/markdown", key="scene_file", on_click="ignore")
