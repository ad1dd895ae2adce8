"""A section of Positions: how large positions are against the scaled embeddings of this sentence, and their sum."""

import streamlit as st

from app.figures.axes import visible
from app.figures.station_texts import dropped
from app.library.source_code import lines_from
from app.stage.controls import Stack
from app.stage.scene import Scene
from app.views.positions.sizes import PARTS, norm_bars, norm_table, norms, strips_table, sum_strips
from app.views.shared.placed import placed
from app.views.shared.triplet import shape_text, triplet
from transformer.model.embedding import InputEmbedding


def sizes(scene: Scene, stack: Stack, chosen: int) -> None:
    """Norms of all tokens of a stack, and the three vectors of the chosen one, from 0."""
    st.header(f"Word and position in one vector: the {stack}'s input", anchor=False)
    triplet(
        "sections 3.4 and 3.5",
        r"x_{pos}=\sqrt{d_{model}}\;E[\,id\,]+PE_{pos}",
        "“In the embedding layers, we multiply those weights by √d_model.” The positions are *added*, not appended: "
        "their length, compared with that of the embeddings, shows how much each contributes."
        + (" This checkpoint adds nothing." if scene.config.positions == "none" else "")
        + dropped(scene.config)["dropped_sum"],
        lines_from(InputEmbedding.forward, "tokens =", "return"),
        shape=shape_text("SD" if stack == "encoder" else "TD", scene.sizes),
    )
    tokens = scene.source if stack == "encoder" else scene.target
    at = f"{stack}.embedding"
    found = scene.record(f"{at}.scaled", f"{at}.positions", f"{at}.output")
    parts = (found[f"{at}.scaled"], found[f"{at}.positions"], found[f"{at}.output"])
    lengths = norms(*parts)
    word, place = float(lengths[PARTS[0]].mean()), float(lengths[PARTS[1]].mean())
    placed(
        norm_bars(lengths, tokens, chosen),
        key="norms",
        name=f"Lengths of embeddings and positions, {stack}",
        alt=f"Over this sentence a scaled embedding has length {word:.2f} on average, a position {place:.2f}.",
        table=lambda: norm_table(lengths, tokens),
    )
    st.caption(
        f"Over this sentence: scaled embedding **{word:.2f}** on average, position **{place:.2f}**"
        + (f" (√(d_model / 2) at every position), {place / word:.0%} of it." if _sinusoidal(scene) and word else ".")
    )
    scaled, position, total = (part[chosen] for part in parts)
    token = tokens.tokens[chosen]
    placed(
        sum_strips(scaled, position, total, token, chosen),
        key="sum",
        name=f"Embedding plus position, {stack}, position {chosen}",
        alt=f"{visible(token)} at position {chosen}: its scaled embedding of length {lengths[PARTS[0]][chosen]:.2f}, "
        f"plus its position of length {lengths[PARTS[1]][chosen]:.2f}, equals a vector of length "
        f"{lengths[PARTS[2]][chosen]:.2f}.",
        table=lambda: strips_table(scaled, position, total),
    )


def _sinusoidal(scene: Scene) -> bool:
    return scene.config.positions == "sinusoidal"
