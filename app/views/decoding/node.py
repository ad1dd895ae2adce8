"""The numbers of a node of a search tree: of the model's search, or of a search from a forced prefix."""

import math

import streamlit as st

from app.figures.shares import probability_text
from app.figures.theme import fixed
from app.languages import _, ngettext
from app.languages.numbers import localised
from app.stage.scene import Scene
from app.views.decoding.reasons import reason_text
from transformer.decoding.length_penalty import formula
from transformer.decoding.translation import SearchNode


def node_numbers(scene: Scene, node: SearchNode, path: tuple[SearchNode, ...]) -> None:
    """Writes its text, probability, sum, score and outcome. `path`: the nodes from the first token to this one."""
    text = scene.subject.translator.tokenizer.decode([each.token_id for each in path])
    st.text(text or _("(nothing yet)"))
    if path:
        total = fixed(node.sum, 3)
        lines = (
            _(
                "Its token: {token}   p = {probability}, log p = {log_probability}",
                token=node.token,
                probability=probability_text(math.exp(node.log_probability)),
                log_probability=fixed(node.log_probability, 3),
            ),
            ngettext(
                "Sum of log p over {count} token: {sum}",
                "Sum of log p over {count} tokens: {sum}",
                node.step,
                sum=total,
            ),
            _(
                "Score: {sum} / {penalty} = {score}",
                sum=total,
                penalty=localised(formula(node.step, scene.translation.settings)),
                score=fixed(node.normalised, 3),
            ),
        )
        st.text("\n".join(lines))
    st.text(reason_text(node.reason))
