"""Which models are there, how good are they, and what differs? Checkpoints as cards, each with its main score, and
beside them families of models that differ in one thing. In the details: all checkpoints, all scores, how they learnt.

A model that is opened here translates the sentence above.
"""

from collections.abc import Sequence

import streamlit as st

from app import components
from app.languages import _
from app.library import checkpoints
from app.library.catalogue import Entry, entry
from app.library.families import Family, read_families, shipped_members
from app.library.main_score import main_score
from app.pages import page_named, query
from app.stage.checkpoint_choice import uploads
from app.stage.scene import Scene
from app.stage.template import details, say
from app.state.choices import CHECKPOINT, POSITIONS_PICTURE
from app.state.events import open_checkpoint
from app.views.models.cards_picture import Scores, cards_data, cards_table
from app.views.models.cards_section import all_checkpoints
from app.views.models.families_section import drawn_members, family_picture, says
from app.views.models.family_details import family_details
from app.views.models.scores_section import curves, published
from app.views.shared.show_figure import download_and_table


def draw(_scene: Scene | None) -> None:
    """Draws the page from top to bottom."""
    files = checkpoints.checkpoints()
    shipped, own = [entry(file) for file in files.values()], [entry(file) for file in uploads().values()]
    found = read_families(files)
    members = {member.file.name for family in found for member in family.members if member.file}
    listed = [*shipped, *own]
    scores: Scores = {one.file.name: main_score(one, found) for one in listed}
    is_open = [one for one in listed if one.file.name == CHECKPOINT.value]
    beside = [one for one in is_open if one.file.name in drawn_members(found)]  # its card is below the plot
    shown = [one for one in (*own, *shipped) if one.file.name not in members]
    shown = [*(one for one in is_open if one.file.name in members and one not in beside), *shown]
    if skipped := checkpoints.skipped_checkpoints():
        st.text(
            _(
                "Not listed, because the file name is not valid UTF-8: {names}. Rename it to open it.",
                names=", ".join(skipped),
            )
        )
    if not shown:
        shown, beside = is_open, []
    if shown:
        _picture(shown, beside, scores, found)
    details(lambda: _details(shipped, listed, scores, found))


def _picture(shown: Sequence[Entry], beside: Sequence[Entry], scores: Scores, found: Sequence[Family]) -> None:
    with st.container(key="models_duo"):  # see models.css
        left, right = st.columns([6, 5], gap="medium")
    with left, st.container(key="picture_model_cards"):
        components.model_cards(cards_data(shown, scores, CHECKPOINT.value), key="model_cards", on_open=open_checkpoint)
    with left:
        download_and_table(
            key="model_cards", name=_("checkpoints"), table=lambda: cards_table([*shown, *beside], scores)
        )
    with right:
        family_picture(found)
        if beside:
            with st.container(key="member_card"):
                data = cards_data(beside, scores, CHECKPOINT.value)
                components.model_cards(
                    data | {"label": _("The model that is open")}, key="family_member", on_open=open_checkpoint
                )
    say(_("Compare two scores only where the text and the search are the same: each card names both."), *says(found))
    if len(shipped_members("model.positions")) > 1:
        with st.container(key="positions_link"):
            st.page_link(
                page_named("positions"),
                label=_("Sine or learned positions: scores, translations, PE · PE side by side"),
                icon=":material/compare:", query_params=query({POSITIONS_PICTURE.key: "kinds"}),
            )  # fmt: skip


def _details(shipped: Sequence[Entry], listed: Sequence[Entry], scores: Scores, found: Sequence[Family]) -> None:
    all_checkpoints(listed, scores)
    family_details(found)
    if shipped:
        published(shipped)
        curves(shipped)
