"""The translation, which is what the pictures below it are about."""

import streamlit as st

from app import components
from app.stage.doctor_line import doctor
from app.stage.scene import Scene

LONGEST = 140  # characters; a longer translation is folded


def headline(scene: Scene) -> None:
    """Draws the translation that is shown."""
    text = scene.hypothesis.text
    with st.container(key="headline"):
        if len(text) > LONGEST:
            components.headline(text, scene.task.target_code, key="long_headline")
        else:
            st.text(text or "(nothing)")
    if scene.is_given:
        st.caption("Your own translation, which the decoder reads instead of its own (teacher forcing).")
    else:
        doctor(scene)
