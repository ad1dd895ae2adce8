"""A section of Masks: one mask taken apart, and for a chosen cell a sentence that says which query may attend to which
key and why."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np
import streamlit as st

from app.components.chart import chart
from app.figures.axes import TokenAxis
from app.figures.mask_matrix import mask_alt, mask_table, parts_figure
from app.figures.mask_reasons import MaskReasons, Parts
from app.figures.panels import Cell
from app.languages import _, gettext_noop
from app.library.source_code import SourceLines, lines_from, lines_of_definition
from app.stage.controls import Controls
from app.stage.heads import KEYS, QUERIES, choose_cell
from app.stage.scene import Scene
from app.views.shared.shapes import key_letter, query_letter, shape_text
from app.views.shared.show_figure import download_and_table
from app.views.shared.triplet import triplet
from transformer.analysis.batch_masks import Part, mask_parts
from transformer.analysis.trace import Trace
from transformer.model.attention_kinds import KINDS, Kind
from transformer.model.transformer import Transformer

NONE_HERE: dict[Kind, str] = {
    "encoder": gettext_noop("There is no causal mask here: the whole source is known before the encoder begins."),
    "decoder": "",
    "cross": gettext_noop(
        "There is no causal mask here: the whole source is known before the first token is written. The mask is the "
        "padding mask of the source, the same for every row of the translation."
    ),
}
SAYS: dict[Part, tuple[str, str, str]] = {  # section, formula, words
    "padding": (
        gettext_noop("section 5.1 (batches), not said of masks"),
        r"\text{mask}_{qk} = [\,\text{id}_k \neq \text{pad}\,]",
        gettext_noop(
            "A batch is a rectangle, so short sentences are filled up with padding. No query may attend to it. The "
            "paper does not mention this; without it the neighbours in a batch would change a sentence's numbers (see "
            "below)."
        ),
    ),
    "causal": (
        gettext_noop("sections 3.1 and 3.2.3"),
        r"\text{mask}_{qk} = [\,k \leq q\,]",
        gettext_noop(
            "“This masking, combined with [the] fact that the output embeddings are offset by one position, ensures "
            "that the predictions for position i can depend only on the known outputs at positions less than i.”"
        ),
    ),
    "window": (
        gettext_noop("section 4"),
        r"\text{mask}_{qk} = [\,|q - k| \leq r\,]",
        gettext_noop(
            "Restricted self-attention: each position attends only to a neighbourhood of size r. Here r is the largest "
            "distance |q − k|."
        ),
    ),
}
CODE: dict[Part, str] = {"padding": "padding_mask", "causal": "causal_mask", "window": "window_mask"}


@dataclass(frozen=True)
class HeadOfBatchSentence:
    """One sentence of the padded batch, and the head that is shown.

    Attributes:
        number: the place of the sentence in the batch, from 0.
        trace: of this sentence, padding included.
        real: how many tokens of source and target are not padding.
        batch: how many sentences there are.
    """

    scene: Scene
    kind: Kind
    site: str
    layer: int
    head: int
    number: int
    trace: Trace
    real: tuple[int, int]
    batch: int

    @property
    def source(self) -> TokenAxis:
        return TokenAxis(self.scene.source.title, "encoder", self.trace.source_tokens)

    @property
    def target(self) -> TokenAxis:
        return TokenAxis(self.scene.target.title, "decoder", self.trace.target_tokens, self.trace.predicts)

    @property
    def queries(self) -> TokenAxis:
        return self.source if self.kind == "encoder" else self.target

    @property
    def keys(self) -> TokenAxis:
        if self.kind == "decoder":
            return TokenAxis(_("{title}, as read", title=self.target.title), "decoder", self.trace.target_tokens)
        return self.source

    @property
    def query_count(self) -> int:
        return self.real[0 if self.kind == "encoder" else 1]

    @property
    def letters(self) -> tuple[str, str]:
        """The letters of the shape (Q, K)."""
        return query_letter(self.kind), key_letter(self.kind)

    @property
    def parts(self) -> Parts:
        return mask_parts(self.scene.config, self.trace.source_ids, self.trace.target_ids, self.kind)

    @property
    def title(self) -> str:
        return _("{kind}, sentence {number}", kind=_(KINDS[self.kind]), number=self.number + 1)

    def tensor(self, name: str) -> np.ndarray:
        """(Q, K) of the chosen head, from the padded pass."""
        return self.trace[f"{self.site}.{name}"][self.head]

    def shape(self, part: Part | None = None) -> str:
        """The shape of one part of the mask, or of all parts together (None), and the shape that it is broadcast to."""
        return mask_shape(
            self.kind,
            part,
            windowed=self.scene.config.attention_window is not None,
            sizes={"B": self.batch, "H": self.scene.config.heads, "S": len(self.source), "T": len(self.target)},
        )


def mask_shape(kind: Kind, part: Part | None, *, windowed: bool, sizes: Mapping[str, int]) -> str:
    """The shape of a mask as `transformer.model.masks` builds it, and of the scores that it is broadcast to.

    Args:
        part: None is all parts together.
        windowed: whether there is an attention window.
        sizes: of B, H, S and T.
    """
    q, k = query_letter(kind), key_letter(kind)
    by_query = part in ("causal", "window") or (part is None and (kind == "decoder" or (windowed and kind != "cross")))
    letters = ("1" if part in ("causal", "window") else "B", "1", q if by_query else "1", k)
    known = {"1": 1, **sizes}
    scores = " × ".join(("B", "H", q, k))
    numbers = " × ".join(str(known[letter]) for letter in ("B", "H", q, k))
    shape = shape_text(letters, known)
    return _("{shape}, broadcast to {scores} = **{numbers}**", shape=shape, scores=scores, numbers=numbers)


def cell_and_parts(this: HeadOfBatchSentence, controls: Controls) -> Cell:
    """Draws the section. Returns the cell that is chosen in the controls."""
    st.header(this.title, anchor=False)
    mask, parts = this.tensor("mask"), this.parts
    query, key = _cell(this, controls, mask)
    with st.container(key="text_verdict"):
        window = this.scene.config.attention_window
        st.text(MaskReasons(mask, parts, this.queries, this.keys, window, this.query_count).of_cell(query, key))
    name = _("{title}: the mask", title=this.title)
    with st.container(key="picture_mask_parts"):
        chart(
            parts_figure(mask, parts, this.queries, this.keys, title=name, cell=(query, key)),
            key="mask_parts",
            on_click=partial(choose_cell, this.kind),
            alt=mask_alt(mask, parts, this.queries, this.keys, name),
        )
    none = NONE_HERE[this.kind]
    st.caption(_("Click a cell, or choose row and key above.") + " " + (_(none) if none else ""))
    download_and_table(key="mask_parts", name=name, table=lambda: mask_table(mask, parts, this.queries, this.keys))
    for part in parts:
        section, formula, words = SAYS[part]
        triplet(
            _(section), formula, _(words), lines_of_definition("model/masks.py", CODE[part]), shape=this.shape(part)
        )
    triplet(
        _("section 3.2.3"),
        r"\text{mask} = " + r" \wedge ".join(rf"\text{{{part}}}" for part in parts),
        _whole_mask_text(this),
        _combined(this.kind),
        shape=this.shape(),
    )
    return query, key


def _whole_mask_text(this: HeadOfBatchSentence) -> str:
    """Who may attend to what. An edit may change the mask of one head or of all."""
    if this.kind == "cross" and this.scene.subject.edits:
        return _(
            "Without edits, the padding mask is all of it: every row may attend to every real token of the source. All "
            "layers and heads of the decoder then share this one mask."
        )
    if this.kind == "cross":
        return _(
            "The padding mask is all of it: every row may attend to every real token of the source. All layers and "
            "heads of the decoder share this one mask."
        )
    if this.scene.subject.edits:
        return _(
            "Without edits, a query may attend to what every part allows. All layers and all heads of a stack then "
            "share this one mask."
        )
    return _("A query may attend to what every part allows. All layers and all heads of a stack share this one mask.")


def _combined(kind: Kind) -> SourceLines:
    if kind == "cross":
        return lines_from(Transformer.decoder_output, "memory = self.encoder", "return self.decoder")
    return lines_of_definition("model/masks.py", "source_mask" if kind == "encoder" else "target_mask")


def _cell(this: HeadOfBatchSentence, controls: Controls, mask: np.ndarray) -> Cell:
    """The chosen cell. On opening: the first row, and the first key that it may not attend to."""
    query = controls.token(this.queries, QUERIES[this.kind], _("Query"))
    return query, controls.token(this.keys, KEYS[this.kind], _("Key"), int(mask[query].argmin()))
