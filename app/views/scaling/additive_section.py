"""Section of the page Scaling and softmax: additive attention beside the dot product, on the same queries and keys."""

from dataclasses import dataclass
from functools import partial

import numpy as np
import streamlit as st

from app.figures.axes import TokenAxis
from app.figures.matrix import attention_matrix, matrix_alt, matrix_table
from app.figures.softmax import softmax
from app.figures.tables import for_reading
from app.languages import _, pgettext, with_label
from app.library.source_code import lines_from
from app.views.scaling.additive import additive_scores, costs, operations
from app.views.scaling.large_scores import are_edited
from app.views.shared.shapes import shape_text
from app.views.shared.show_figure import show_figure
from app.views.shared.triplet import triplet


@dataclass(frozen=True)
class HeadScores:
    """What one head computes: Q queries, K keys, E = d_k."""

    name: str  # kind, layer and head in words, for titles and file names
    axes: tuple[TokenAxis, TokenAxis]
    query: np.ndarray  # (Q, E)
    key: np.ndarray  # (K, E)
    scores: np.ndarray  # (Q, K)
    mask: np.ndarray  # (Q, K), True = may attend
    weights: np.ndarray  # (Q, K), of the model

    @property
    def are_edited(self) -> bool:
        """Whether an edit changes the weights after the division."""
        return are_edited(self.weights, self.scores, self.mask)

    @property
    def of_scores(self) -> np.ndarray:
        """(Q, K): the weights that the softmax makes of the scores: those of the model, but for such an edit."""
        return softmax(self.scores, self.mask) if self.are_edited else self.weights


def additive(head: HeadScores) -> None:
    """Draws the section for the chosen head: the formulas, the weights of both functions, and their operations."""
    queries, keys, d_k = len(head.query), len(head.key), head.query.shape[1]
    either = pgettext("between two formulas", "or")
    st.header(_("Additive or dot product?"), anchor=False)
    triplet(
        _("section 3.2.1; the additive formula: Bahdanau et al. (2015)"),
        r"\begin{gathered}q\cdot k\,/\sqrt{d_k}\\ "
        rf"\text{{{either}}}\quad v\cdot\tanh(W_1 q+W_2 k)\end{{gathered}}",
        _(
            "“While the two are similar in theoretical complexity, dot-product attention is much faster and more "
            "space-efficient in practice.” The checkpoint has no W₁, W₂ and v: they are **random** here (fixed seed, v "
            "scaled so that both sets of scores have the same variance). The pictures show how the function works on "
            "these q and k, not what it would learn."
        ),
        lines_from(additive_scores, "hidden =", "scores"),
        shape=shape_text(("Q", "K"), head.scores.shape),
    )
    additive_pictures(head)
    st.table(for_reading(costs(queries, keys, d_k)), border="horizontal")
    dot, added = operations(queries, keys, d_k)
    st.caption(
        _(
            "For all {queries} × {keys} scores of one head: {dot:,} operations against {added:,}, {times:.1f} times as "
            "many; what is computed once per token (W^Q, W^K; W₁q, W₂k) is not counted. Additive attention holds "
            "Q × K × d_k numbers, the dot product only Q × K: it is one matrix product, for which there is fast code.",
            queries=queries,
            keys=keys,
            dot=dot,
            added=added,
            times=added / dot,
        )
    )


def additive_pictures(head: HeadScores) -> None:
    """Draws the weights of both functions side by side."""
    mask = head.mask
    variance = float(np.var(head.scores[mask], dtype=np.float64)) if mask.any() else 0.0
    other = softmax(additive_scores(head.query, head.key, mask, variance), mask)
    pair = (
        (
            "dot",
            _("Dot product, without the edit") if head.are_edited else _("Dot product, as the model has it"),
            head.of_scores,
        ),
        ("additive", _("Additive, random W₁, W₂, v"), other),
    )
    for column, (key_, name, found) in zip(st.columns(2, gap="medium"), pair, strict=True):
        with column:
            show_figure(
                attention_matrix(found, *head.axes, title=name, mask=mask),
                key=f"function_{key_}",
                name=with_label(head.name, name),
                alt=matrix_alt(found, *head.axes, f"{name}, {head.name}"),
                table=partial(matrix_table, found, *head.axes),
            )
