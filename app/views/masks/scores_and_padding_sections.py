"""Sections of Masks: what the mask does to the scores of a head, and what the padding mask is for."""

import streamlit as st

from app.compute import cached_results
from app.figures.attention_stages import plain, stages_alt, stages_figure, stages_table
from app.figures.panels import Cell
from app.library.source_code import lines_from
from app.views.masks.mask_parts_section import Sentence
from app.views.masks.score_panels import (
    MaskedHead,
    masking_alt,
    masking_figure,
    masking_table,
    plain_zero,
    row_stages,
)
from app.views.shared.placed import belongings, placed
from app.views.shared.triplet import shape_text, triplet
from transformer.analysis.batch_masks import padding_difference
from transformer.model.attention_kinds import KINDS

Ids = tuple[tuple[int, ...], ...]


def scores_and_weights(this: Sentence, cell: Cell) -> None:
    """Scores before, mask, scores after, weights: all cells, and the chosen row with its numbers."""
    st.header("What the mask does to the scores", anchor=False)
    sizes = {"H": this.scene.config.heads, "S": len(this.source), "T": len(this.target)}
    triplet(
        "section 3.2.3",
        r"\text{softmax}\left(\text{mask}\left(\frac{QK^T}{\sqrt{d_k}}\right)\right)",
        "“We implement this inside of scaled dot-product attention by masking out (setting to −∞) all values in the "
        "input of the softmax which correspond to illegal connections.” Then $e^{-\\infty} = 0$: a masked weight is 0 "
        "exactly, and the others of its row share what it would have had.",
        f"{this.site}.masked_scores",
        shape=shape_text(("H", *this.letters), sizes),
    )
    title = f"{KINDS[this.kind]}, layer {this.layer + 1}, head {this.head + 1}, sentence {this.number + 1}"
    scores, mask, masked_scores, weights = map(this.tensor, ("scores", "mask", "masked_scores", "weights"))
    head = MaskedHead(scores, mask, masked_scores, weights, this.parts, this.queries, this.keys)
    placed(
        masking_figure(head, title=title, cell=cell),
        key="masking",
        name=title,
        alt=masking_alt(head, title),
        table=lambda: masking_table(head),
    )
    largest, keys = plain_zero(head.largest_masked), this.keys
    but = "" if mask.any(axis=-1).all() else ", except those that are fully masked"
    st.caption(
        f"Grey: −∞ before the softmax. The largest weight of a masked cell is **{largest}**. Rows sum to 1{but}."
    )
    row = row_stages(this.tensor("products"), head, cell[0])
    name = f"{title}, row {cell[0] + 1}"
    placed(
        stages_figure(row, keys, mask[cell[0]], title=name, chosen=cell[1]),
        key="masking_row",
        name=name,
        alt=stages_alt(row, keys, name),
        table=lambda: stages_table(row, keys),
    )


def padding_check(this: Sentence, sources: Ids, targets: Ids) -> None:
    """The numbers of the padded sentence beside its numbers alone."""
    st.header("What the padding mask is for", anchor=False)
    padded = (len(this.source) - this.real[0], len(this.target) - this.real[1])
    triplet(
        "what a batch must not change",
        r"\text{numbers in a padded batch} = \text{numbers alone}",
        "The numbers of a sentence must not depend on the other sentences in its batch, neither in training nor when "
        "several sentences are translated together. Here both passes are computed, and all their numbers are compared.",
        lines_from(padding_difference, "alone = ", "padded = "),
        in_paper=False,
        shape="sources: "
        + shape_text("BS", (len(sources), len(this.source)))
        + ". targets: "
        + shape_text("BT", (len(targets), len(this.target))),
    )
    if not any(padded):
        st.markdown(
            f"Sentence {this.number + 1} is the longest on both sides, so nothing of it is padded: choose the other "
            "one above, or type a sentence of another length."
        )
    found = cached_results.changed_by_padding(this.scene.subject, sources, targets, this.number)
    top = "encoder.norm_out" if this.scene.config.norm == "pre" else _last_norm(this)
    st.markdown(
        f"Sentence {this.number + 1} has {padded[0]} position{'s' * (padded[0] != 1)} of padding in the "
        f"source and {padded[1]} in the target. The largest difference between its numbers in the batch and alone "
        f"({'what is left is rounding' if max(found.values()) else 'here not even rounding'}):"
    )
    with st.container(key="padding_numbers", horizontal=True, gap="small"):
        for name, value in (
            ("Weights of this layer", found[f"{this.site}.weights"]),
            ("Encoder's output", found[top]),
            ("Logits", found["logits"]),
            (f"All {len(found)} tensors", max(found.values())),
        ):
            st.metric(name, plain(value), width="content")  # so that all four stand in a line
    belongings(
        key="padding_numbers",
        name=f"Sentence {this.number + 1} in the batch and alone",
        table=lambda: {"site": list(found), "largest difference": list(found.values())},
        drawn=False,
    )


def _last_norm(this: Sentence) -> str:
    return f"encoder.layers.{this.scene.config.encoder_layers - 1}.feed_forward.norm_out"
