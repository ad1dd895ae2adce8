"""Sections of Masks: what the mask does to the scores of a head, and what the padding mask is for."""

import streamlit as st

from app.compute import cached_results
from app.compute.projections import encoder_output_site
from app.figures.attention_stages import plain, stages_alt, stages_figure, stages_table
from app.figures.panels import Cell
from app.languages import _, ngettext, pgettext
from app.library.source_code import lines_from
from app.views.masks.mask_parts_section import HeadOfBatchSentence
from app.views.masks.score_panels import (
    MaskedHead,
    masking_alt,
    masking_figure,
    masking_table,
    plain_zero,
    row_stages,
)
from app.views.shared.rounding import ROUNDING
from app.views.shared.shapes import shape_text
from app.views.shared.show_figure import download_and_table, show_figure
from app.views.shared.triplet import triplet
from transformer.analysis.batch_masks import padding_difference
from transformer.model.attention_kinds import KINDS

Ids = tuple[tuple[int, ...], ...]


def scores_and_weights(this: HeadOfBatchSentence, cell: Cell) -> None:
    """Scores before, mask, scores after, weights: all cells, and the chosen row with its numbers."""
    st.header(_("What the mask does to the scores"), anchor=False)
    sizes = {"H": this.scene.config.heads, "S": len(this.source), "T": len(this.target)}
    triplet(
        _("section 3.2.3"),
        r"\text{softmax}\left(\text{mask}\left(\frac{QK^T}{\sqrt{d_k}}\right)\right)",
        _(
            "“We implement this inside of scaled dot-product attention by masking out (setting to −∞) all values in "
            "the input of the softmax which correspond to illegal connections.” Then $e^{-\\infty} = 0$: a masked "
            "weight is 0 exactly, and the other weights of its row are larger, so that they still sum to 1."
        ),
        f"{this.site}.masked_scores",
        shape=shape_text(("H", *this.letters), sizes),
    )
    title = _(
        "{kind}, layer {layer}, head {head}, sentence {sentence}",
        kind=_(KINDS[this.kind]),
        layer=this.layer + 1,
        head=this.head + 1,
        sentence=this.number + 1,
    )
    scores, mask, masked_scores, weights = map(this.tensor, ("scores", "mask", "masked_scores", "weights"))
    head = MaskedHead(scores, mask, masked_scores, weights, this.parts, this.queries, this.keys)
    show_figure(
        masking_figure(head, title=title, cell=cell),
        key="masking",
        name=title,
        alt=masking_alt(head, title),
        table=lambda: masking_table(head),
    )
    largest, keys = plain_zero(head.largest_masked), this.keys
    st.caption(
        _(
            "Grey: −∞ before the softmax. The largest weight of a masked cell is **{largest}**. Rows sum to 1.",
            largest=largest,
        )
        if mask.any(axis=-1).all()
        else _(
            "Grey: −∞ before the softmax. The largest weight of a masked cell is **{largest}**. Rows sum to 1, except "
            "those that are fully masked.",
            largest=largest,
        )
    )
    row = row_stages(this.tensor("products"), head, cell[0])
    name = _("{title}, row {row}", title=title, row=cell[0] + 1)
    show_figure(
        stages_figure(row, keys, mask[cell[0]], title=name, chosen=cell[1]),
        key="masking_row",
        name=name,
        alt=stages_alt(row, keys, name),
        table=lambda: stages_table(row, keys),
    )


def padding_check(this: HeadOfBatchSentence, sources: Ids, targets: Ids) -> None:
    """Compares the tensors of a sentence in the padded batch with those of a pass over the sentence alone."""
    st.header(_("What the padding mask is for"), anchor=False)
    padded_batch = pgettext("in a formula", "numbers in a padded batch")
    alone = pgettext("in a formula", "numbers alone")
    padded = (len(this.source) - this.real[0], len(this.target) - this.real[1])
    triplet(
        _("what a batch must not change"),
        rf"\text{{{padded_batch}}} = \text{{{alone}}}",
        _(
            "The numbers of a sentence must not depend on the other sentences in its batch, neither in training nor "
            "when several sentences are translated together. Here both passes are computed, and all their numbers are "
            "compared."
        ),
        lines_from(padding_difference, "alone = ", "padded = "),
        origin="elsewhere",
        shape=_(
            "sources: {sources}. targets: {targets}",
            sources=shape_text("BS", (len(sources), len(this.source))),
            targets=shape_text("BT", (len(targets), len(this.target))),
        ),
    )
    if not any(padded):
        st.markdown(
            _(
                "No sentence of the batch is longer than sentence {number} on either side, so it has no padding. "
                "Choose the other one above, or type a sentence of another length.",
                number=this.number + 1,
            )
        )
    found = cached_results.changed_by_padding(this.scene.subject, sources, targets, this.number)
    output = encoder_output_site(this.scene.config)
    has = ngettext(
        "Sentence {number} has {count} position of padding in the source and {target} in the target.",
        "Sentence {number} has {count} positions of padding in the source and {target} in the target.",
        padded[0],
        number=this.number + 1,
        target=padded[1],
    )
    largest = max(found.values())
    if not largest:
        difference = _("The largest difference between its numbers in the batch and alone (none, not even rounding):")
    elif largest < ROUNDING:
        difference = _("The largest difference between its numbers in the batch and alone (only rounding):")
    else:
        difference = _("The largest difference between its numbers in the batch and alone (an edit makes it large):")
    st.markdown(f"{has} {difference}")
    with st.container(key="padding_numbers", horizontal=True, gap="small"):
        for name, value in (
            (_("Weights of this layer"), found[f"{this.site}.weights"]),
            (_("Encoder's output"), found[output]),
            (_("Logits"), found["logits"]),
            (_("All {count} tensors", count=len(found)), max(found.values())),
        ):
            st.metric(name, plain(value), width="content")  # so that all four fit in one line
    download_and_table(
        key="padding_numbers",
        name=_("Sentence {number} in the batch and alone", number=this.number + 1),
        table=lambda: {_("site"): list(found), _("largest difference"): list(found.values())},
        drawn=False,
    )
