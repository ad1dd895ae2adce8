"""The menu at the right end of the top: link to this view, light or dark, search, model card, own checkpoint."""

import streamlit as st

from app import components
from app.classroom.class_panel import class_panel
from app.components import recording
from app.compute.subject import Subject
from app.languages import _, language
from app.languages.catalogues import NAMES
from app.pages import PAGES, go_to
from app.server.visitor import address_for_others, is_at_this_machine
from app.stage.checkpoint_choice import uploader
from app.stage.model_card import model_card
from app.stage.save_scene import save_scene
from app.stage.search_settings import search_settings
from app.state.address import PAGE, private_texts
from app.state.choices import BESIDE_PAGE, SENTENCE
from app.state.lecture_choices import LECTURE
from app.take_home.button import take_home_page
from transformer.config import DecodingConfig


def menu(subject: Subject | None) -> DecodingConfig | None:
    """Draws what is in the menu. Returns the settings of the search; None without a model."""
    if recording.current():  # nobody opens the menu of a page that is recorded
        return search_settings(subject.translator.settings) if subject else None
    settings = None
    with st.container(key="menu_line", horizontal=True, gap="small"):
        if subject:
            texts = private_texts() | {SENTENCE.key: SENTENCE.value or ""}
            components.copy_link(texts, host=address_for_others(), key="copy_link")
        components.color_scheme([page.name for page in PAGES], key="color_scheme")
        components.language_choice(NAMES, language(), key="language_choice")
        page = st.session_state[PAGE]
        if (
            subject
            and page != "beside"
            and st.button(
                _("Open beside …"),
                help=_("This page beside the original model, another checkpoint or another sentence"),
            )
        ):
            BESIDE_PAGE.choose(page)
            go_to("beside")
    with st.container(key="menu_teaching", horizontal=True, gap="small"):
        st.button(
            _("Lecture mode"),
            on_click=LECTURE.choose,
            args=(True,),
            help=_("Key P. In lecture mode, the key ? shows all keys."),
        )
        if subject:
            save_scene()
            take_home_page()
    if subject and is_at_this_machine():
        st.caption(
            _(
                "The link contains your sentence. It opens on this computer only: for others, start Headlight with "
                "`--server.address 0.0.0.0`."
            )
        )
    if subject:
        settings = search_settings(subject.translator.settings)
        model_card(subject)
    with st.expander(_("Class: what you show, on the phones of others")):
        class_panel()
    with st.expander(_("Open your own checkpoint"), expanded=subject is None):
        uploader()
    return settings
