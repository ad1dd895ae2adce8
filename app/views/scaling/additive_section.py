"""Of the page Scaling and softmax: additive attention beside the dot product, on the same queries and keys."""

import numpy as np
import streamlit as st

from app.figures.axes import TokenAxis
from app.figures.tables import for_reading
from app.library.source_code import lines_from
from app.stage.scene import Scene
from app.views.scaling.additive import additive_scores, costs, operations
from app.views.scaling.matrix_pair import matrix_pair, pair_table
from app.views.scaling.softmax import softmax
from app.views.shared.placed import placed
from app.views.shared.triplet import shape_text, triplet


def additive(
    scene: Scene,
    where: str,
    both_axes: tuple[TokenAxis, TokenAxis],
    vectors: tuple[np.ndarray, np.ndarray],
    scores: np.ndarray,
    mask: np.ndarray,
    weights: np.ndarray,
) -> None:
    """Part of the fragment of the chosen head; weights and scores are (Q, K), both vectors (Q, d_k) and (K, d_k)."""
    query, key = vectors
    st.header("Additive or dot product?", anchor=False)
    triplet(
        "section 3.2.1",
        r"\begin{gathered}q\cdot k\,/\sqrt{d_k}\\ \text{or}\quad v\cdot\tanh(W_1 q+W_2 k)\end{gathered}",
        "“While the two are similar in theoretical complexity, dot-product attention is much faster and more "
        "space-efficient in practice.” The checkpoint has no W₁, W₂ and v: they are **random** here (fixed seed, v "
        "scaled so that both sets of scores have the same variance). The picture shows how the function works on these "
        "q and k, not what it would learn.",
        lines_from(additive_scores, "hidden =", "scores"),
        shape=shape_text(("Q", "K"), scores.shape),
    )
    variance = float(np.var(scores[mask], dtype=np.float64)) if mask.any() else 0.0
    other = softmax(additive_scores(query, key, mask, variance), mask)
    names = ("dot product, as the model has it", "additive, random W₁, W₂, v")
    title = f"{where}: two functions of the same q and k"
    placed(
        matrix_pair((weights, other), names, *both_axes, title=title, mask=mask),
        key="additive",
        name=title,
        alt=f"{title}. Mean strongest weight of a row: dot product {weights.max(axis=-1).mean():.2f}, additive with "
        f"random matrices {other.max(axis=-1).mean():.2f}.",
        table=lambda: pair_table((weights, other), names, *both_axes),
    )
    st.table(for_reading(costs(len(query), len(key), scene.config.d_k)), border="horizontal")
    dot, added = operations(len(query), len(key), scene.config.d_k)
    st.caption(
        f"For all {len(query)} × {len(key)} scores of one head: {dot:,} operations against {added:,}, "
        f"{added / dot:.1f} times as many. And additive attention holds Q × K × d_k numbers where the dot product, "
        "one matrix product, holds Q × K."
    )
