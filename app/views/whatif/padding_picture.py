"""The picture of "Take a mask away" for the masks of padding: two sentences in one batch, a head with the mask and
without it, and the translations of the shorter sentence."""

from functools import partial

import numpy as np
import streamlit as st

from app.components.cell_grid import Axis
from app.components.padded_batch import Head, Line, Result, Weights, padded_batch
from app.figures.axes import visible
from app.figures.shares import Share
from app.figures.tables import Table
from app.figures.theme import fixed, kind_color, number, role_color
from app.languages import _, gettext_noop, ngettext, pgettext
from app.stage.scene import Scene
from app.stage.text_check import NoScene, check_text
from app.state.choices import LONGEST_SECOND, PADDED_HEAD, PADDED_WITH
from app.views.shared.show_figure import download_and_table
from app.views.whatif.padded_batch import Batch, batch_of, other_sentence
from transformer.analysis.edits import MaskOff
from transformer.errors import HeadlightError
from transformer.model.attention_kinds import KINDS, Kind


def other_of(scene: Scene) -> str:
    """The other sentence of the batch: the visitor's, or one that shows what padding does."""
    return PADDED_WITH.open(other_sentence(scene)[:LONGEST_SECOND]).strip()


def box(scene: Scene) -> None:
    """Draws the box for the other sentence."""
    other_of(scene)
    st.text(_("In one batch with"), width="content")
    st.text_input(_("The other sentence of the batch"), key=PADDED_WITH.key, persist_state="session",
                  max_chars=LONGEST_SECOND, label_visibility="collapsed", autocomplete="off",
                  placeholder=_("Another sentence, shorter or longer"))  # fmt: skip


def batch_or_reason(scene: Scene, mask: MaskOff) -> Batch | str:
    """The batch, with `mask` and without it, or why there is none."""
    other = other_of(scene)
    try:
        check_text(scene.subject, other)
        found = batch_of(scene, other, mask)
    except (NoScene, HeadlightError) as problem:
        return str(problem)
    return found or _("Both sentences have as many tokens, so none has padding. Type a longer one, or a shorter one.")


def draw(scene: Scene, batch: Batch, kind: Kind) -> None:
    """Draws the picture; `kind` is the attention whose weights are shown."""
    leaked = batch.share_on_padding(kind)
    layers, heads = leaked.shape
    most = np.unravel_index(leaked.argmax(), leaked.shape)
    all_heads = [(layer, head) for layer in range(layers) for head in range(heads)]
    layer, head = PADDED_HEAD.open((int(most[0]), int(most[1])), all_heads)
    keys = list(map(visible, batch.masked.source_tokens))
    rows = (
        Axis(pgettext("title of an axis", "query"), keys[: batch.source_length], role_color("encoder"))
        if kind == "encoder"
        else Axis(pgettext("title of an axis", "predicts"), list(map(visible, batch.own.tokens)), role_color("decoder"))
    )
    masked, unmasked = (
        np.round(batch.weights(each, kind)[layer, head].astype(float), 5) for each in (batch.masked, batch.unmasked)
    )
    if batch.is_off:
        second = _("Without: {share:.0%} of its weight is on padding", share=Share(leaked[layer, head]))
    else:
        second = _("Now: the mask is there")
    name = _(
        "{kind} of a padded sentence, layer {layer}, head {head}", kind=_(KINDS[kind]), layer=layer + 1, head=head + 1
    )
    with st.container(gap=None):
        with st.container(key="picture_padded_batch"):
            padded_batch(
                _lines(batch),
                Head(_(KINDS[kind]), kind_color(kind), layer, head, layers, heads),
                Weights(
                    rows,
                    Axis(pgettext("title of an axis", "key"), keys, role_color("encoder")),
                    batch.source_length,
                    batch.is_off,
                    [
                        (_("With the padding mask"), masked.tolist()),
                        (second, (unmasked if batch.is_off else masked).tolist()),
                    ],
                ),
                _results(batch),
                key="padded_batch",
                language=scene.task.target_code,
                on_choose=lambda name, index: PADDED_HEAD.choose((index, head) if name == "layer" else (layer, index)),
            )
        download_and_table(
            key="padded_batch", name=name, table=partial(table, list(rows.names), keys, [masked, unmasked])
        )


def _lines(batch: Batch) -> list[Line]:
    size = batch.source_length + batch.padding
    lines = []
    for row, sentence in enumerate(batch.sentences):
        tokens = [visible(token.text) for token in sentence.source_tokens]
        real = len(tokens)
        tokens += [visible(batch.masked.source_tokens[-1])] * (size - real)
        lines.append(Line(_("Other sentence") if row else _("Your sentence"), tokens, real))
    return lines


def _results(batch: Batch) -> list[Result]:
    alone, masked, unmasked = (fixed(score, 2) for score in batch.scores)
    if not batch.is_off:
        unmasked = masked
    own = batch.own.text
    notes = (
        _(
            "log-probability {score}; the logits differ by {most} at most",
            score=masked,
            most=number(batch.rounding, 1),
        ),
        _("log-probability of the first translation: {score}", score=unmasked),
    )
    found = [Result(_("Alone"), own, _("log-probability {score}", score=alone))]
    labels = (
        _("In the batch, with the padding mask"),
        _("In the batch, without the padding mask") if batch.is_off else _("In the batch, now: with the padding mask"),
    )
    written = batch.written if batch.is_off else (batch.written[0],) * 2
    for label, hypothesis, note in zip(labels, written, notes, strict=True):
        is_other = hypothesis.text != own
        found.append(Result(label, hypothesis.text if is_other else _("the same"), note, is_other))
    return found


def sentences(batch: Batch, kind: Kind) -> list[str]:
    """What the picture says, with its numbers."""
    if batch.row == 0:
        first = ngettext(
            "A batch is a rectangle: your sentence gets {count} token of padding. With the mask nothing attends to "
            "them, and the sentence is translated as if it were alone.",
            "A batch is a rectangle: your sentence gets {count} tokens of padding. With the mask nothing attends to "
            "them, and the sentence is translated as if it were alone.",
            batch.padding,
        )
    else:
        first = ngettext(
            "A batch is a rectangle: the other sentence gets {count} token of padding. With the mask nothing attends "
            "to them, and the sentence is translated as if it were alone.",
            "A batch is a rectangle: the other sentence gets {count} tokens of padding. With the mask nothing attends "
            "to them, and the sentence is translated as if it were alone.",
            batch.padding,
        )
    if not batch.is_off:
        return [first, _("Switch the mask off: what goes to padding, and what becomes of the translation?")]
    if kind == "encoder":
        text = gettext_noop(
            "Without it, {share:.0%} of all attention of the encoder goes to padding: the log-probability of that "
            "translation goes from {alone} to {free}, {changes}."
        )
    else:
        text = gettext_noop(
            "Without it, {share:.0%} of all attention of the decoder to the encoder goes to padding: the "
            "log-probability of that translation goes from {alone} to {free}, {changes}."
        )
    is_other = batch.written[1].text != batch.own.text
    alone, unmasked = (fixed(score, 2) for score in batch.scores[::2])
    without = _(
        text,
        share=Share(batch.share_on_padding(kind).mean()),
        alone=alone,
        free=unmasked,
        changes=_("and the translation changes") if is_other else _("but the translation stays"),
    )
    return [first, without, _("Alone, a sentence has no padding, so there the mask changes nothing.")]


def table(queries: list[str], keys: list[str], weights: list[np.ndarray]) -> Table:
    """All cells, one per line, row by row."""
    return {
        _("query"): [query for query in queries for key in keys],
        _("key"): keys * len(queries),
        _("weight with the mask"): weights[0].ravel(),
        _("weight without"): weights[1].ravel(),
    }
