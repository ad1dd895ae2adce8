"""A section of Positions: how large positions are against the scaled embeddings of this sentence, and their sum."""

import streamlit as st

from app.figures.axes import in_words
from app.figures.station_texts import dropped
from app.languages import _
from app.library.source_code import lines_from
from app.stage.scene import Scene
from app.views.positions.sizes import PARTS, norm_bars, norm_table, norms, strips_table, sum_strips
from app.views.shared.shapes import length_letter, shape_text
from app.views.shared.show_figure import show_figure
from app.views.shared.triplet import triplet
from transformer.analysis.edits.checks import Stack
from transformer.model.embedding import InputEmbedding


def sizes(scene: Scene, stack: Stack, chosen: int) -> None:
    """The lengths of the vectors of all tokens of a stack, and the three vectors of the chosen token (from 0)."""
    st.header(_("Word and position in one vector: the {stack}'s input", stack=_(stack)), anchor=False)
    words = _(
        "“In the embedding layers, we multiply those weights by √d_model.” The positions are *added*, not appended: "
        "their length, compared with that of the embeddings, shows how much each contributes."
    )
    if scene.config.positions == "none":
        words += " " + _("This checkpoint adds nothing.")
    triplet(
        _("sections 3.4 and 3.5"),
        r"x_{pos}=\sqrt{d_{model}}\;E[\,id\,]+PE_{pos}",
        words + dropped(scene.config)["dropped_sum"],
        lines_from(InputEmbedding.forward, "tokens =", "return"),
        shape=shape_text((length_letter(stack), "D"), scene.sizes),
    )
    tokens = scene.source if stack == "encoder" else scene.target
    at = f"{stack}.embedding"
    found = scene.record(f"{at}.scaled", f"{at}.positions", f"{at}.output")
    parts = (found[f"{at}.scaled"], found[f"{at}.positions"], found[f"{at}.output"])
    lengths = norms(*parts)
    word, place = float(lengths[PARTS[0]].mean()), float(lengths[PARTS[1]].mean())
    show_figure(
        norm_bars(lengths, tokens, chosen),
        key="norms",
        name=_("Lengths of embeddings and positions, {stack}", stack=_(stack)),
        alt=_(
            "Over this sentence a scaled embedding has length {word:.2f} on average, a position {place:.2f}.",
            word=word,
            place=place,
        ),
        table=lambda: norm_table(lengths, tokens),
    )
    if (
        scene.config.positions == "sinusoidal"
        and word
        and not scene.subject.is_edited_at(f"{stack}.embedding.positions")
    ):
        caption = _(
            "Over this sentence: scaled embedding **{word:.2f}** on average, position **{place:.2f}** (√(d_model / 2) "
            "at every position), {share:.0%} of it.",
            word=word,
            place=place,
            share=place / word,
        )
    else:
        caption = _(
            "Over this sentence: scaled embedding **{word:.2f}** on average, position **{place:.2f}**.",
            word=word,
            place=place,
        )
    st.caption(caption)
    scaled, position, total = (part[chosen] for part in parts)
    token = tokens.tokens[chosen]
    show_figure(
        sum_strips(scaled, position, total, token, chosen),
        key="sum",
        name=_("Embedding plus position, {stack}, position {position}", stack=_(stack), position=chosen + 1),
        alt=_(
            "{token} at position {position}: its scaled embedding of length {embedding:.2f}, plus its position of "
            "length {place:.2f}, equals a vector of length {total:.2f}.",
            token=in_words(token),
            position=chosen + 1,
            embedding=lengths[PARTS[0]][chosen],
            place=lengths[PARTS[1]][chosen],
            total=lengths[PARTS[2]][chosen],
        ),
        table=lambda: strips_table(scaled, position, total),
    )
