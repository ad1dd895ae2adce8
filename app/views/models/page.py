"""Which models are there, how good are they, and what differs? All checkpoints as cards, each with its one score, and
beside them families of models that differ in one thing. In the details: their cards, all scores, how they learnt.

Whatever is opened here is opened on the sentence above.
"""

from collections.abc import Sequence

import streamlit as st

from app import components
from app.library import checkpoints
from app.library.catalogue import Entry, entry
from app.library.families import Families, read_families
from app.library.main_score import main_score
from app.stage.checkpoint_choice import uploads
from app.stage.scene import Scene
from app.stage.template import details, say
from app.state.choices import CHECKPOINT, open_checkpoint
from app.views.models.cards_picture import Scores, cards_data, cards_table
from app.views.models.cards_section import all_checkpoints
from app.views.models.families_section import families_in_full, family_picture, says
from app.views.models.scores_section import curves, published
from app.views.shared.placed import belongings


def draw(_scene: Scene | None) -> None:
    """Draws the page from top to bottom."""
    files = checkpoints.checkpoints()
    shipped, own = [entry(file) for file in files.values()], [entry(file) for file in uploads().values()]
    found = read_families(files)
    members = {member.file.name for family in found.families for member in family.members if member.file}
    listed = [*shipped, *own]
    scores: Scores = {one.file.name: main_score(one, found) for one in listed}
    shown = [one for one in (*own, *shipped) if one.file.name not in members or one.file.name == CHECKPOINT.value]
    if skipped := checkpoints.skipped_checkpoints():
        st.text(f"Not listed, because the file name is not valid UTF-8: {', '.join(skipped)}. Rename it to open it.")
    if shown:
        _picture(shown, scores, found)
    details(lambda: _details(shipped, listed, scores, found))


def _picture(shown: Sequence[Entry], scores: Scores, found: Families) -> None:
    with st.container(key="models_duo"):  # see page.css
        left, right = st.columns([6, 5], gap="medium")
    with left, st.container(key="picture_model_cards"):
        components.model_cards(cards_data(shown, scores, CHECKPOINT.value), key="model_cards", on_open=open_checkpoint)
    with left:
        belongings(key="model_cards", name="checkpoints", table=lambda: cards_table(shown, scores))
    with right:
        family_picture(found)
    say("Compare two scores only where the text and the search are the same: each card names both.", *says(found))


def _details(shipped: Sequence[Entry], listed: Sequence[Entry], scores: Scores, found: Families) -> None:
    all_checkpoints(listed, scores)
    families_in_full(found)
    if shipped:
        published(shipped)
        curves(shipped)
