"""A link below the sentences of a page to the models that differ in what the page is about.

It is not in template.py, because that file is imported for the first picture, before torch; the families need torch.
"""

import streamlit as st

from app.library.checkpoints import checkpoints
from app.library.families import read_families
from app.pages import page_named, query
from app.state.choices import FAMILY


def family_link(words: str, option: str) -> None:
    """A link to the plot of models that differ in this option, if each of them was trained several times."""
    found = [one for one in read_families(checkpoints()) if one.option == option and one.is_repeated]
    if found:
        with st.container(key="family_link"):
            chosen = {FAMILY.key: found[0].name}
            st.page_link(page_named("models"), label=words, icon=":material/monitoring:", query_params=query(chosen))
