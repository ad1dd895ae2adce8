"""The menu at the right end of the top: link to this view, light or dark, search, model card, own checkpoint."""

import streamlit as st

from app import components
from app.compute.subject import Subject
from app.pages import PAGES, go_to
from app.server.visitor import address_for_others
from app.stage.checkpoint_choice import uploader
from app.stage.model_card import model_card
from app.stage.search_settings import search_settings
from app.state.address import PAGE, private_texts
from app.state.choices import BESIDE_PAGE, SENTENCE
from transformer.config import DecodingConfig


def menu(subject: Subject | None) -> DecodingConfig | None:
    """Draws what is in the menu. Returns the settings of the search; None without a model."""
    settings = None
    with st.container(key="menu_line", horizontal=True, gap="small"):
        if subject:
            texts = private_texts() | {SENTENCE.key: SENTENCE.value or ""}
            components.copy_link(texts, host=address_for_others(), key="copy_link")
        components.color_scheme([page.name for page in PAGES], key="color_scheme")
        page = st.session_state[PAGE]
        if (
            subject
            and page != "beside"
            and st.button(
                "Open beside …", help="This page beside the original model, another checkpoint or another sentence"
            )
        ):
            BESIDE_PAGE.choose(page)
            go_to("beside")
    if subject:
        settings = search_settings(subject.translator.settings)
        model_card(subject)
    with st.expander("Open your own checkpoint", expanded=subject is None):
        uploader()
    return settings
