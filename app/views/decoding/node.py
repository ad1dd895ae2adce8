"""A node of a search in numbers: of the model's own search, and of the one that went on from a visitor's beginning."""

import math

import streamlit as st

from app.figures.theme import fixed, probability_text
from app.stage.scene import Scene
from transformer.decoding.length_penalty import formula
from transformer.decoding.translation import SearchNode


def node_numbers(scene: Scene, node: SearchNode, path: tuple[SearchNode, ...]) -> None:
    """Its text, its probability, its sum and its score worked out, and what became of it; `path` leads to it."""
    text = scene.subject.translator.tokenizer.decode([each.token for each in path])
    st.text(text or "(nothing yet)")
    if path:
        st.text(
            f"Its token: {node.piece}   p = {probability_text(math.exp(node.log_probability))}, "
            f"log p = {fixed(node.log_probability, 3)}\n"
            f"Sum of log p over {node.step} {'token' if node.step == 1 else 'tokens'}: {fixed(node.sum, 3)}\n"
            f"Score: {fixed(node.sum, 3)} / {formula(node.step, scene.translation.settings)} = "
            f"{fixed(node.normalised, 3)}"
        )
    st.text(node.reason)
