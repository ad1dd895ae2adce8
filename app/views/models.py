"""Models: every checkpoint there is, what it scores, how it learnt, and families of models that differ in one thing.

Whatever is opened here is opened on the sentence that stands above.
"""

import streamlit as st

from app import models
from app.address import keep_in_address
from app.catalogue import entry
from app.families import read_families
from app.views.controls import uploads
from app.views.models_cards import cards
from app.views.models_families import families
from app.views.models_scores import curves, published
from app.views.stage import headline, stage


def page() -> None:
    """Draws the page from top to bottom."""
    scene = stage()
    keep_in_address()
    if scene:
        headline(scene)
    files = models.checkpoints()
    shipped, own = [entry(file) for file in files.values()], [entry(file) for file in uploads().values()]
    found = read_families(files)
    members = {member.file.name for family in found.families for member in family.members if member.file}
    if skipped := models.skipped_checkpoints():
        st.text(f"Not listed, because the file name is not valid UTF-8: {', '.join(skipped)}. Rename it to open it.")
    cards([one for one in (*shipped, *own) if one.file.name not in members], shipped + own)
    families(found, [one for one in shipped if one.file.name in members])
    if shipped:
        published(shipped)
        curves(shipped)


page()
