"""The calculation of one head by hand, in the paper's order: formula, code, and the numbers for a query and a key.

The page shows the chosen step, or all steps.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import streamlit as st

from app.figures.axes import TokenAxis
from app.figures.head_names import head_name
from app.figures.mask_reasons import MaskReasons
from app.figures.tensor import tensor_alt
from app.languages import _, gettext_noop
from app.library.source_code import SourceLines, joined_lines, lines_from, lines_of
from app.stage.scene import Scene
from app.state.choices import ALL_TERMS
from app.state.color_scheme import is_dark
from app.state.detail_choices import SUMMED_DIMENSION
from app.views.hand.arithmetic import ByHand
from app.views.hand.hand_figures import (
    terms_alt,
    terms_figure,
    terms_table,
    value_rows,
    values_figure,
    values_table,
)
from app.views.hand.latex import TERMS, Writing
from app.views.hand.matrix_products import products_table
from app.views.hand.projection_origin import origin
from app.views.shared.shapes import key_letter, query_letter, shape_text
from app.views.shared.show_figure import show_figure
from app.views.shared.triplet import triplet
from transformer.model.attention import MultiHeadAttention, attend
from transformer.model.attention_kinds import SITES, Kind


@dataclass(frozen=True)
class Calculation:
    """The calculation for one query of one head: tokens, tensors of the head by their names, and the arithmetic."""

    scene: Scene
    kind: Kind
    layer: int  # from 0
    head: int  # from 0
    queries: TokenAxis
    keys: TokenAxis
    query: int  # from 0
    tensors: Mapping[str, np.ndarray]
    hand: ByHand

    @property
    def site(self) -> str:
        """The site of the attention: "decoder.layers.0.cross_attention"."""
        return SITES[self.kind].format(self.layer)

    @property
    def title(self) -> str:
        """The head in words."""
        return head_name(self.kind, self.layer, self.head)

    def shape(self, *letters: str) -> str:
        return shape_text(letters, self.scene.sizes)


def _writing(this: Calculation, terms: int | None = TERMS) -> Writing:
    return Writing(this.hand, this.query, is_dark(), terms)


def projections(this: Calculation) -> None:
    """The projections to q, k and v, and all shapes."""
    st.header(_("Where q, k and v come from"), anchor=False)
    memory = _("m is the encoder's output.") if this.kind == "cross" else _("In self-attention m is x itself.")
    triplet(
        _("section 3.2.2"),
        r"{Q = x\,W^Q + b^Q} \qquad \allowbreak {K = m\,W^K + b^K} \qquad \allowbreak {V = m\,W^V + b^V}",
        _(
            "Three matrices, and biases that the paper's formula lacks, turn each vector into a query, a key and a "
            "value. {memory} {origin} No parameter has S or T in its shape: a longer sentence needs no other W.",
            memory=memory,
            origin=origin(this.kind, this.layer, this.scene.config.norm == "pre"),
        ),
        _projection_code(this.site),
        shape=_(
            "Q: {q}. K and V: {k}",
            q=this.shape("H", query_letter(this.kind), "E"),
            k=this.shape("H", key_letter(this.kind), "E"),
        ),
    )
    st.table(products_table(this.kind, this.scene.sizes), border="horizontal")
    st.caption(_("The matrices W are parameters: the same for every sentence, however long."))


def _projection_code(site: str) -> SourceLines:
    """The lines that make keys, values and queries."""
    memory = lines_from(MultiHeadAttention.keys_and_values, "key = ", "value = ")
    return joined_lines(memory, lines_of(f"{site}.query"))


def product(this: Calculation) -> None:
    """The sum of products, the largest first."""
    st.header(_("1. The dot product q·k"), anchor=False)
    triplet(
        _("section 3.2.1"),
        r"q \cdot k = \sum_{i=1}^{d_k} q_i\,k_i",
        _(
            "Each number of the query times the number of the key in the same dimension, all added up: large where "
            "both point the same way. The largest products are first, and below each number is its name: $q_{3,17}$ "
            "is number 17 (from 0, as in the code) of the query of token 3."
        ),
        f"{this.site}.products",
        shape=this.shape("H", query_letter(this.kind), key_letter(this.kind)),
    )
    ALL_TERMS.open()
    everything = st.toggle(_("Write out all terms"), key=ALL_TERMS.key, persist_state="session")
    st.latex(_writing(this, None if everything else TERMS).product())
    name = _("{head}: q·k term by term", head=this.title)
    show_figure(
        terms_figure(this.hand, title=name),
        key="hand_terms",
        name=name,
        alt=terms_alt(this.hand, name),
        table=lambda: terms_table(this.hand),
    )


def scale(this: Calculation) -> None:
    """The product over the root of d_k."""
    st.header(_(r"2. Divided by $\sqrt{d_k}$"), anchor=False)
    triplet(
        _("section 3.2.1"),
        r"s = \frac{q \cdot k}{\sqrt{d_k}}",
        _(
            "A sum of d_k products grows with the root of d_k. Divided by it, scores keep their size however wide a "
            "head is, and the softmax keeps a gradient."
        ),
        f"{this.site}.scores",
        shape=this.shape("H", query_letter(this.kind), key_letter(this.kind)),
    )
    st.latex(_writing(this).scale())


def mask(this: Calculation) -> None:
    """Whether the query may attend to the key, and why."""
    st.header(_("3. The mask"), anchor=False)
    triplet(
        _("section 3.2.3"),
        r"s \to -\infty \;\text{ " + _("where a connection is illegal") + "}",
        _("Minus infinity before the softmax is a weight of exactly 0 after it."),
        f"{this.site}.masked_scores",
        shape=this.shape("H", query_letter(this.kind), key_letter(this.kind)),
    )
    st.latex(_writing(this).mask())
    scene = this.scene
    parts = scene.mask_parts(this.kind)
    with st.container(key="text_mask"):
        reasons = MaskReasons(this.tensors["mask"], parts, this.queries, this.keys, scene.config.attention_window)
        st.text(reasons.of_cell(this.query, this.hand.chosen))


def softmax(this: Calculation) -> None:
    """From the scores of the row to its weights."""
    st.header(_("4. The softmax of the row"), anchor=False)
    subtracted = (
        _(
            "$e^s$ itself would leave the range of a computer's numbers, so the largest score is subtracted first. "
            "That changes no weight."
        )
        if this.hand.subtracted
        else _("The code subtracts the largest score first, which changes no weight and keeps $e^s$ in range.")
    )
    triplet(
        _("section 3.2.1, equation 1"),
        r"\text{" + _("weight") + r"}_j = \frac{e^{s_j}}{\sum_{j'} e^{s_{j'}}}",
        _("The exponential makes each score positive; divided by their sum, the weights of a row sum to 1.")
        + f" {subtracted}",
        f"{this.site}.weights",
        shape=this.shape("H", query_letter(this.kind), key_letter(this.kind)),
    )
    st.latex(_writing(this).softmax())


def values(this: Calculation) -> None:
    """The weighted sum of the values, which is the context."""
    hand = this.hand
    st.header(_("5. The weighted sum of the values"), anchor=False)
    triplet(
        _("section 3.2.1, equation 1"),
        r"\text{" + _("context") + r"} = \sum_j \text{" + _("weight") + r"}_j\, v_j",
        _(
            "Attention *is* a weighted sum: each value vector times the weight of its key. The contexts of all "
            "heads go on, side by side, through $W^O$."
        ),
        lines_from(attend, "@ value  # (B, H, Q, E)"),
        shape=this.shape("H", query_letter(this.kind), "E"),
    )
    dimension = SUMMED_DIMENSION.open(hand.largest_dimension, range(hand.d_k))
    st.number_input(
        _("Dimension of v that is written out"),
        0,
        hand.d_k - 1,
        key=SUMMED_DIMENSION.key,
        persist_state="session",
        width=300,
    )
    st.latex(_writing(this).context(dimension))
    name = _("{head}: weights times values", head=this.title)
    rows = value_rows(this.keys)
    show_figure(
        values_figure(hand, this.keys, title=name),
        key="hand_values",
        name=name,
        alt=tensor_alt(hand.with_sum, rows, name),
        table=lambda: values_table(hand, this.keys),
    )


# The texts of the buttons, in the order of the calculation.
STEPS: dict[str, tuple[str, Callable[[Calculation], None]]] = {
    "projections": (gettext_noop("x → q, k, v"), projections),
    "product": (gettext_noop("1 q·k"), product),
    "scale": (gettext_noop(r"2 ÷ $\sqrt{d_k}$"), scale),
    "mask": (gettext_noop("3 mask"), mask),
    "softmax": (gettext_noop("4 softmax"), softmax),
    "values": (gettext_noop("5 values"), values),
}
