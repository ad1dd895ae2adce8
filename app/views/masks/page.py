"""Masks: the causal mask on the sentence of the page, what happens without it, and a model trained without it."""

from functools import partial

import streamlit as st

from app.components import causal_matrix, comparison
from app.components.comparison import Cell, Row, Title
from app.figures.shares import Share, probability_text
from app.figures.tables import Table
from app.figures.theme import role_color
from app.languages import _, ngettext
from app.library.names import display_name, short_name
from app.stage import template
from app.stage.controls import controls
from app.stage.heads import clearest_of
from app.stage.question_card import predict
from app.stage.scene import Scene
from app.state.choices import MASK_CELL, MASK_HEAD, MASK_SCORES, MASK_TAKEN, PINS_GIVEN, UNPINNED
from app.views.masks.batch_section import masks_of_a_batch
from app.views.shared.causal_picture import Pass, message, passes, scores_before, scores_message, table
from app.views.shared.show_figure import download_and_table
from app.views.shared.small_mask_models import SmallModel, SmallModels, small_mask_models_of
from transformer.analysis.edits import MaskOff, edit_text


def draw(scene: Scene) -> None:
    """Draws the page from top to bottom."""
    masked, unmasked = passes(scene)
    with st.container(key="masks_duo"):
        left, right = st.columns([3, 2], gap="medium")
        with left:
            _causal(scene, masked, unmasked)
        with right:
            both = small_mask_models_of(scene)
            if both:
                _comparison(both)
    template.say(*_sentences(scene, masked, unmasked, both))
    predict(scene, "masked-cells")
    words = _("Why is the mask used in decoding, too? Translate without it, with a cache and without one")
    template.experiment(words, experiment="masks", edit=edit_text(MaskOff("causal")))
    words = _("Take the padding mask away: what does a shorter sentence in a batch lose?")
    template.experiment(words, experiment="masks", edit=edit_text(MaskOff("padding")))
    template.details(lambda: masks_of_a_batch(scene, controls(scene)))


def prepare(scene: Scene) -> None:
    """Computes what the page shows of a scene, before it is opened."""
    passes(scene)
    small_mask_models_of(scene)


def _causal(scene: Scene, masked: Pass, unmasked: Pass) -> None:
    """The matrix with and without the causal mask."""
    layer, head = _head(scene)
    with st.container(key="picture_causal"):
        scores, shown = scores_before(scene, layer, head), 2 if MASK_SCORES.value else int(MASK_TAKEN.value)
        heading = _("The model of this page: {model}", model=display_name(scene.subject.file))
        more = {"heading": heading, "scores": scores_message(scores, layer, head), "shown": shown}
        data = message(scene, masked, unmasked, layer, head) | more
        causal_matrix(
            data,
            key="causal",
            on_choose=partial(_choose, layer, head),
            pinned=MASK_CELL.value,
            pins_given=PINS_GIVEN.value,
            on_pin=_pin,
        )
    name = _(
        "Decoder self-attention with and without the causal mask, layer {layer}, head {head}",
        layer=layer + 1,
        head=head + 1,
    )

    def numbers() -> Table:
        return {**table(scene.target, masked, unmasked, layer, head), _("score before the mask"): scores.ravel()}

    download_and_table(key="causal", name=name, table=numbers)


def _head(scene: Scene) -> tuple[int, int]:
    """Layer and head, from 0. Opens with the clearest head."""
    heads = [(i, j) for i in range(scene.config.decoder_layers) for j in range(scene.config.heads)]
    return MASK_HEAD.open(clearest_of(scene, "decoder"), heads)


def _choose(layer: int, head: int, name: str, index: int) -> None:
    if name == "mask":
        MASK_TAKEN.choose(index == 1)
        MASK_SCORES.choose(index == 2)
    else:
        MASK_HEAD.choose((index, head) if name == "layer" else (layer, index))


def _pin(query: int, key: int) -> None:
    if query == UNPINNED:
        MASK_CELL.forget()
    else:
        MASK_CELL.choose((query, key))


def _comparison(both: SmallModels) -> None:
    """What the two small models do in a training step, and when they write on their own."""
    title = (
        _("Two other, small models on this sentence")
        if both.is_own
        else _("Two other, small models on “{sentence}”", sentence=both.source)
    )
    rows = (
        Row(
            _("In a training step, it reads the right tokens and predicts the next token"),
            (_step(both.masked), _step(both.unmasked)),
        ),
        Row(_("In decoding, token by token, it writes"), (_alone(both.masked), _alone(both.unmasked))),
    )
    comparison(
        (_("Trained with the mask"), _("Trained without it")),
        rows,
        title=Title(
            title,
            _("They differ only in the mask of their training."),
            tuple(short_name(small.trained.file) for small in (both.masked, both.unmasked)),
        ),
        key="twins",
        color=role_color("decoder"),
        language=both.masked.trained.task.target_code,
    )


def _step(small: SmallModel) -> Cell:
    right, size = int(small.step.right.sum()), len(small.step.right)
    return Cell(
        ngettext("{right} of {count:,} token right", "{right} of {count:,} tokens right", size, right=right),
        _(
            "The right token has a probability of {probability} on average.",
            probability=probability_text(small.probability),
        ),
        share=right / size,
    )


def _alone(small: SmallModel) -> Cell:
    size = ngettext("{count:,} token", "{count:,} tokens", len(small.alone.ids))
    return Cell(small.alone.text or _("(nothing)"), size)


def later_tokens(share: Share, *, helps: bool, learned: bool) -> str:
    """What attention to later tokens does to the score. `learned`: whether the model was trained without the mask."""
    if helps:
        return _(
            "Without the mask, {share:.0%} of the attention of all heads goes to later tokens, which helps the model "
            "of this page.",
            share=share,
        )
    if learned:
        return _(
            "Without the mask, {share:.0%} of the attention of all heads goes to later tokens, which lowers the score "
            "of this translation.",
            share=share,
        )
    return _(
        "Without the mask, {share:.0%} of the attention of all heads goes to later tokens, which the model of this "
        "page never learned to use.",
        share=share,
    )


def _sentences(scene: Scene, masked: Pass, unmasked: Pass, both: SmallModels | None) -> list[str]:
    """What the pictures show, in at most three sentences."""
    if len(masked.predictions.right) == 1:
        return [_("The translation is empty, so there is one row and nothing to hide from it: type a longer sentence.")]
    sentences = [
        _(
            "In training, all rows are computed at once: without the mask, each row could read the token that it must "
            "predict."
        )
    ]
    change = unmasked.predictions.score - masked.predictions.score
    sentences.append(
        later_tokens(Share(unmasked.share_on_later), helps=change >= 0, learned=not scene.config.causal_training)
    )
    if not scene.subject.has_causal_mask:
        sentences.append(_("An edit takes the causal mask away. “With the mask” shows the same model with the mask."))
    elif both:
        sentences.append(
            _(
                "A model that is trained without the mask learns to copy the next token instead of translating; when "
                "it writes on its own, there is nothing to copy."
            )
        )
    return sentences
