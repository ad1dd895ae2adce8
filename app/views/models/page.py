"""Models: every checkpoint there is, what it scores, how it learnt, and families of models that differ in one thing.

Whatever is opened here is opened on the sentence above.
"""

import streamlit as st

from app.library import checkpoints
from app.library.catalogue import entry
from app.library.families import read_families
from app.stage.checkpoint_choice import uploads
from app.stage.scene import Scene
from app.views.models.cards_section import cards
from app.views.models.families_section import families
from app.views.models.scores_section import curves, published


def draw(_scene: Scene | None, _controls: None) -> None:
    """Draws the page from top to bottom."""
    files = checkpoints.checkpoints()
    shipped, own = [entry(file) for file in files.values()], [entry(file) for file in uploads().values()]
    found = read_families(files)
    members = {member.file.name for family in found.families for member in family.members if member.file}
    if skipped := checkpoints.skipped_checkpoints():
        st.text(f"Not listed, because the file name is not valid UTF-8: {', '.join(skipped)}. Rename it to open it.")
    cards([one for one in (*shipped, *own) if one.file.name not in members], shipped + own)
    families(found, [one for one in shipped if one.file.name in members])
    if shipped:
        published(shipped)
        curves(shipped)
