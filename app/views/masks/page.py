"""Masks: the causal mask on the sentence of the page, what happens without it, and a model trained without it."""

from functools import partial

import streamlit as st

from app.components import causal_matrix, comparison
from app.components.comparison import Cell, Row
from app.figures.theme import counted, probability_text, role_color
from app.stage import template
from app.stage.controls import controls
from app.stage.heads import clearest_of
from app.stage.scene import Scene
from app.state.choices import MASK_HEAD, MASK_TAKEN
from app.views.masks.batch_section import masks_of_a_batch
from app.views.shared.causal_picture import Pass, message, passes, table
from app.views.shared.mask_twins import Twin, Twins, twins
from app.views.shared.placed import belongings


def draw(scene: Scene) -> None:
    """Draws the page from top to bottom."""
    masked, free = passes(scene)
    with st.container(key="masks_duo"):
        left, right = st.columns([3, 2], gap="medium")
        with left:
            _causal(scene, masked, free)
        with right:
            both = twins(scene)
            if both:
                _comparison(both)
    template.say(*_sentences(scene, masked, free, both))
    template.experiment("Take the padding mask away: what does a shorter sentence in a batch lose?", experiment="masks")
    template.details(lambda: masks_of_a_batch(scene, controls(scene)))


def _causal(scene: Scene, masked: Pass, free: Pass) -> None:
    """The matrix with and without the causal mask."""
    layer, head = _head(scene)
    with st.container(key="picture_causal"):
        shown = message(scene, masked, free, layer, head) | {"taken": MASK_TAKEN.value}
        causal_matrix(shown, key="causal", on_choose=partial(_choose, layer, head))
    name = f"Decoder self-attention with and without the causal mask, layer {layer + 1}, head {head + 1}"
    belongings(key="causal", name=name, table=lambda: table(scene.target, masked, free, layer, head))


def _head(scene: Scene) -> tuple[int, int]:
    """Layer and head, from 0. Opens with the clearest."""
    heads = [(i, j) for i in range(scene.config.decoder_layers) for j in range(scene.config.heads)]
    return MASK_HEAD.open(clearest_of(scene, "decoder"), heads)


def _choose(layer: int, head: int, name: str, index: int) -> None:
    if name == "mask":
        MASK_TAKEN.choose(index == 1)
    else:
        MASK_HEAD.choose((index, head) if name == "layer" else (layer, index))


def _comparison(both: Twins) -> None:
    """What the two small models do in a training step, and alone."""
    which = "this sentence" if both.is_own else f"“{both.source}”"
    rows = (
        Row(
            "In a training step, it reads the right words and predicts the next word",
            (_step(both.masked), _step(both.free)),
        ),
        Row("On its own, word by word, it writes", (_alone(both.masked), _alone(both.free))),
    )
    comparison(
        ("Trained with the mask", "Trained without"),
        rows,
        title=f"Two small models that differ only in the mask, on {which}",
        key="twins",
        color=role_color("decoder"),
        language="de",
    )


def _step(twin: Twin) -> Cell:
    right, size = int(twin.step.right.sum()), len(twin.step.right)
    return Cell(
        f"{right} of {counted(size, 'token')} right",
        f"The right token has a probability of {probability_text(twin.probability)} on average.",
        share=right / size,
    )


def _alone(twin: Twin) -> Cell:
    return Cell(twin.alone.text or "(nothing)", counted(len(twin.alone.ids), "token"))


def _sentences(scene: Scene, masked: Pass, free: Pass, both: Twins | None) -> list[str]:
    """What the pictures show, in at most three sentences."""
    if len(masked.predictions.right) == 1:
        return ["The translation is empty, so there is one row and nothing to hide from it: type a longer sentence."]
    said = [
        "In training, all rows are computed at once: without the mask, each row could read the token that it must "
        "predict."
    ]
    change = free.predictions.score - masked.predictions.score
    harms = scene.config.causal_training and change < 0
    effect = "which this model never learned to use" if harms else "which helps this model"
    said.append(f"Without the mask, {free.ahead:.0%} of the attention of all heads goes to later tokens, {effect}.")
    if both:
        said.append(
            "A model that is trained without the mask learns to copy the next token instead of translating; when it "
            "writes on its own, there is nothing to copy."
        )
    return said
