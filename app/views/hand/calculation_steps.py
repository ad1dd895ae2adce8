"""The steps of one head by hand, in the paper's order: formula, code, and the very numbers for a query and a key.

Each stands alone: the page shows the one that is chosen, or all below each other.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import streamlit as st

from app.figures.attention_stages import stages_alt, stages_figure, stages_table
from app.figures.axes import TokenAxis
from app.figures.mask_reasons import verdict
from app.figures.tensor import tensor_alt
from app.library.source_code import SourceLines, lines_from, lines_of
from app.stage.scene import Scene
from app.state.choices import ALL_TERMS
from app.state.color_scheme import is_dark
from app.views.hand.arithmetic import ByHand
from app.views.hand.hand_figures import (
    row_stages,
    terms_alt,
    terms_figure,
    terms_table,
    value_rows,
    values_figure,
    values_table,
)
from app.views.hand.latex import TERMS, Writing
from app.views.hand.shape_blocks import Sizes, blocks_alt, blocks_figure, blocks_table
from app.views.shared.placed import placed
from app.views.shared.triplet import shape_text, triplet
from transformer.analysis.batch_masks import mask_parts
from transformer.config import BOS
from transformer.model.attention import MultiHeadAttention, attend
from transformer.model.attention_kinds import KINDS, Kind

SITE_NAMES = ("query", "key", "value", "products", "scores", "mask", "masked_scores", "weights", "context")


def origin(kind: Kind, layer: int, pre_norm: bool) -> str:
    """What the projections of a layer (from 0) are made from."""
    if kind == "cross":
        return "The queries come from the decoder, the keys and values from the encoder's output: T queries, S keys."
    below = "layer below" if layer else "embedding"
    asks = "S queries, S keys" if kind == "encoder" else "T queries, T keys"
    return f"Queries, keys and values all come from the {kind}'s {'normalised stream' if pre_norm else below}: {asks}."


@dataclass(frozen=True)
class Calculation:
    """One query of one head: where it is, whose tokens, its tensors (Q, K) or (K, E), and the arithmetic."""

    scene: Scene
    kind: Kind
    site: str  # "decoder.layers.0.cross_attention"
    title: str
    queries: TokenAxis
    keys: TokenAxis
    query: int  # from 0
    tensors: Mapping[str, np.ndarray]
    hand: ByHand

    @property
    def q(self) -> str:
        """The letter of how many queries there are."""
        return "S" if self.kind == "encoder" else "T"

    @property
    def k(self) -> str:
        """The letter of how many keys there are."""
        return "T" if self.kind == "decoder" else "S"

    def shape(self, *letters: str) -> str:
        return shape_text(letters, self.scene.sizes)


def _writing(this: Calculation, terms: int | None = TERMS) -> Writing:
    return Writing(this.hand, this.query, is_dark(), terms)


def projections(this: Calculation) -> None:
    """What q, k and v are made from, and the shapes of it all."""
    st.header("Where q, k and v come from", anchor=False)
    triplet(
        "section 3.2.2",
        r"{Q = x\,W^Q + b^Q} \qquad \allowbreak {K = m\,W^K + b^K} \qquad \allowbreak {V = m\,W^V + b^V}",
        "Three matrices, and biases that the paper's formula lacks, turn each vector into a query, a key and a value. "
        + ("m is the encoder's output. " if this.kind == "cross" else "In self-attention m is x itself. ")
        + f"{origin(this.kind, int(this.site.split('.')[2]), this.scene.config.norm == 'pre')} No parameter has S or T "
        "in its shape: a longer sentence needs no other W.",
        _projecting(this.site),
        shape=f"Q: {this.shape('H', this.q, 'E')}. K and V: {this.shape('H', this.k, 'E')}",
    )
    sizes = Sizes(len(this.queries), len(this.keys), this.scene.config.d_model, this.hand.d_k)
    name = f"{KINDS[this.kind]}: shapes"  # of all its heads: another one changes nothing here
    placed(
        blocks_figure(this.kind, sizes, title=name),
        key="hand_blocks",
        name=name,
        alt=blocks_alt(this.kind, sizes, name),
        table=lambda: blocks_table(this.kind, sizes),
    )
    st.caption("Dotted: parameters, the same for every sentence. Sides are drawn on a logarithmic scale.")


def _projecting(site: str) -> SourceLines:
    """The lines that make keys, values and queries."""
    memory = lines_from(MultiHeadAttention.project_memory, "key = ", "value = ")
    return SourceLines(memory.path, memory.first, f"{memory.text}\n{lines_of(f'{site}.query').text}")


def product(this: Calculation) -> None:
    """The sum of products, the largest first."""
    st.header("1. The dot product q·k", anchor=False)
    triplet(
        "section 3.2.1",
        r"q \cdot k = \sum_{i=1}^{d_k} q_i\,k_i",
        "Each number of the query times the number of the key in the same dimension, all added up: large where both "
        "point the same way. The largest products stand first, each with its dimension below (from 0, as in the code).",
        f"{this.site}.products",
        shape=this.shape("H", this.q, this.k),
    )
    ALL_TERMS.open()
    everything = st.toggle("Write out all terms", key=ALL_TERMS.key, persist_state="session")
    st.latex(_writing(this, None if everything else TERMS).product())
    name = f"{this.title}: q·k term by term"
    placed(
        terms_figure(this.hand, title=name),
        key="hand_terms",
        name=name,
        alt=terms_alt(this.hand, name),
        table=lambda: terms_table(this.hand),
    )


def scale(this: Calculation) -> None:
    """The product over the root of d_k."""
    st.header(r"2. Divided by $\sqrt{d_k}$", anchor=False)
    triplet(
        "section 3.2.1",
        r"s = \frac{q \cdot k}{\sqrt{d_k}}",
        "A sum of d_k products grows with the root of d_k. Divided by it, scores keep their size however wide a head "
        "is, and the softmax keeps a gradient.",
        f"{this.site}.scores",
        shape=this.shape("H", this.q, this.k),
    )
    st.latex(_writing(this).scale())


def mask(this: Calculation) -> None:
    """Whether the query may attend to the key, and why."""
    st.header("3. The mask", anchor=False)
    triplet(
        "section 3.2.3",
        r"s \to -\infty \;\text{ where a connection is illegal}",
        "Minus infinity before the softmax is a weight of exactly 0 after it.",
        f"{this.site}.masked_scores",
        shape=this.shape("H", this.q, this.k),
    )
    st.latex(_writing(this).mask())
    scene = this.scene
    read = (BOS, *scene.hypothesis.ids[:-1])
    parts = mask_parts(scene.config, scene.translation.source_ids, read, this.kind)
    with st.container(key="said_mask"):
        st.text(
            verdict(parts, this.query, this.hand.chosen, this.queries, this.keys, window=scene.config.attention_window)
        )


def softmax(this: Calculation) -> None:
    """From the scores of the row to its weights."""
    st.header("4. The softmax of the row", anchor=False)
    subtracted = (
        "The largest score is subtracted first, which changes no weight: $e^s$ itself would leave the range of a "
        "computer's numbers."
        if this.hand.subtracted
        else "The code subtracts the largest score first, which changes no weight and keeps $e^s$ in range."
    )
    triplet(
        "section 3.2.1, equation 1",
        r"\text{weight}_j = \frac{e^{s_j}}{\sum_{j'} e^{s_{j'}}}",
        f"The exponential makes each score positive; divided by their sum, the weights of a row sum to 1. {subtracted}",
        f"{this.site}.weights",
        shape=this.shape("H", this.q, this.k),
    )
    st.latex(_writing(this).softmax())
    stages, name = row_stages(this.hand), f"{this.title}: query {this.query + 1} and all keys"
    placed(
        stages_figure(stages, this.keys, this.hand.mask, title=name, chosen=this.hand.chosen),
        key="hand_stages",
        name=name,
        alt=stages_alt(stages, this.keys, name),
        table=lambda: stages_table(stages, this.keys),
    )


def values(this: Calculation) -> None:
    """What the weights are for: the context."""
    hand = this.hand
    st.header("5. The weighted sum of the values", anchor=False)
    triplet(
        "section 3.2.1, equation 1",
        r"\text{context} = \sum_j \text{weight}_j\, v_j",
        "Attention *is* a weighted sum: of each key's value vector as much as its weight says. The contexts of all "
        "heads go on, side by side, through $W^O$.",
        lines_from(attend, "@ value  # (B, H, Q, E)"),
        shape=this.shape("H", this.q, "E"),
    )
    dimension = st.number_input(
        "Dimension of v that is written out",
        0,
        hand.d_k - 1,
        hand.largest_dimension,
        key=f"dimension_of_{hand.d_k}",
        width=300,
    )
    st.latex(_writing(this).context(int(dimension)))
    name = f"{this.title}: weights times values"
    rows = value_rows(this.keys)
    placed(
        values_figure(hand, this.keys, title=name),
        key="hand_values",
        name=name,
        alt=tensor_alt(hand.with_sum, rows, name),
        table=lambda: values_table(hand, this.keys),
    )


# What stands on the buttons, in the order of the calculation.
STEPS: dict[str, tuple[str, Callable[[Calculation], None]]] = {
    "projections": ("x → q, k, v", projections),
    "product": ("1 q·k", product),
    "scale": ("2 ÷ √d_k", scale),
    "mask": ("3 mask", mask),
    "softmax": ("4 softmax", softmax),
    "values": ("5 values", values),
}
