"""Questions about an edited model, and about a model with an attention window: their answers are of this model."""

import re
from pathlib import Path

import numpy as np
import pytest

from app.figures.shares import decimal_text
from app.questions import ask
from app.questions.head_off import _Losses, _question
from app.questions.question import Place
from app.take_home.exercises import masked_cells
from tests.support.small_questions import SENTENCES, scene
from transformer.analysis.edits import Edit, HeadUniform, MaskCell, MaskOff
from transformer.model.attention_kinds import Kind


def test_a_head_without_a_clear_answer_is_not_asked_about(question_checkpoints: list[Path]) -> None:
    equal = scene(question_checkpoints[0], SENTENCES[0], *(HeadUniform("encoder", 0, head) for head in range(4)))
    assert ask("most-attended", equal, Place("", "encoder", 0)) is None
    assert ask("most-attended", equal, Place("", "encoder"))


def test_the_questions_are_about_the_edited_model(question_checkpoints: list[Path]) -> None:
    """Without the causal mask nothing is removed; a cell that an edit forbids is."""
    assert ask("masked-cells", scene(question_checkpoints[0], SENTENCES[0], MaskOff("causal"))) is None
    forbidden = scene(question_checkpoints[0], SENTENCES[0], MaskCell("cross", 0, 0, 1, 2, False))
    question = ask("masked-cells", forbidden, Place("", "cross", 0, 0))
    assert question
    assert "row 2" in question.answers[question.right] or question.answers[question.right] == "1"


def test_a_question_about_masks_names_the_head_if_the_masks_of_heads_differ(question_checkpoints: list[Path]) -> None:
    plain = scene(question_checkpoints[0], SENTENCES[0])
    edited = scene(question_checkpoints[0], SENTENCES[0], MaskCell("decoder", 0, 1, 3, 1, False))
    for seed in range(4):
        usual, of_head = (ask("masked-cells", shown, Place("", "decoder", 0, 1), seed) for shown in (plain, edited))
        assert usual
        assert of_head
        assert "layer" not in usual.prompt
        assert "Decoder self-attention, layer 1, head 2" in of_head.prompt


def test_what_is_said_about_a_mask_is_true_for_a_window_and_an_edited_mask(question_checkpoints: list[Path]) -> None:
    plain, window, _ = question_checkpoints
    edited = scene(plain, SENTENCES[0], MaskCell("decoder", 0, 0, 3, 1, False))
    ranges = 0
    for shown in (scene(plain), scene(window), edited):
        mask = shown.record("decoder.layers.0.self_attention.mask")["decoder.layers.0.self_attention.mask"][0]
        for seed in range(24):
            question = ask("masked-cells", shown, Place("", "decoder", 0, 0), seed)
            assert question
            if found := re.search(r"Row (\d+) may attend to tokens? (\d+)(?: to (\d+))?\.", question.why):
                row, first, last = (int(number or found[2]) for number in found.groups())
                assert (np.flatnonzero(mask[row - 1]) + 1).tolist() == list(range(first, last + 1))
                ranges += 1
            assert "Row t may" not in question.why or shown.subject == scene(plain).subject
    assert ranges > 10
    short = scene(window, "the the the")
    assert len(short.source) == 4  # of 16 cells the window removes 6, as the causal mask would
    reasons = [ask("masked-cells", short, Place("", "encoder", 0, 0), seed) for seed in range(8)]
    assert "It removes 6 cells of 4 × 4 = 16." in [question.why for question in reasons if question]


def test_without_the_causal_mask_a_question_about_a_step_has_the_probability_of_this_step(
    question_checkpoints: list[Path],
) -> None:
    shown = scene(question_checkpoints[0], SENTENCES[0], MaskOff("causal"))
    for step, value in enumerate(shown.hypothesis.log_probabilities):
        question = ask("above-half", shown, Place("decoding", row=step))
        assert question
        assert question.margin == pytest.approx(abs(float(np.exp(value)) - 0.5), abs=1e-6)


@pytest.mark.parametrize("edit", [MaskOff("causal"), MaskCell("decoder", None, None, 1, 4, True)], ids=str)
@pytest.mark.parametrize("kind", ["cross", "decoder"])
def test_a_question_about_a_head_that_is_off_names_the_attention_of_the_steps_whose_loss_it_asks_about(
    question_checkpoints: list[Path], edit: Edit, kind: Kind
) -> None:
    """A row of a pass over the whole translation attends to later tokens, which its step does not have."""
    plain, shown = scene(question_checkpoints[0]), scene(question_checkpoints[0], SENTENCES[0], edit)
    size, heads = len(shown.hypothesis.ids), [(1, head) for head in range(4)]
    assert (plain.hypothesis.ids, size > 4) == (shown.hypothesis.ids, True)
    lost = {head: -(4 - number) * np.eye(size)[1] for number, head in enumerate(heads)}  # most at step 2
    question = _question(shown, _Losses(kind, np.zeros(size), lost), heads[0], heads)
    in_steps, in_pass = (each.attention(kind).weights[1, :, 1].max(axis=-1) for each in (plain, shown))  # (H)
    assert not np.allclose(in_steps, in_pass, atol=0.01)
    for answer, weight in zip(question.answers, in_steps, strict=True):
        assert answer.endswith(f", {decimal_text(float(weight))})")


def test_the_question_on_masks_is_about_the_causal_mask_that_the_page_draws_also_without_it(
    question_checkpoints: list[Path],
) -> None:
    plain = scene(question_checkpoints[0])
    edited = scene(question_checkpoints[0], SENTENCES[0], MaskOff("causal"))
    for seed in range(4):
        question = ask("masked-cells", edited, Place("masks", "decoder", 0, 0), seed)
        assert question
        assert question == ask("masked-cells", plain, Place("masks", "decoder", 0, 0), seed)


def test_the_exercise_on_the_mask_is_true_for_the_mask_of_the_model(question_checkpoints: list[Path]) -> None:
    plain, window, _ = question_checkpoints
    exercise = masked_cells(scene(plain))
    assert exercise
    assert "to earlier tokens" in exercise.task
    exercise = masked_cells(scene(window))
    assert exercise
    assert "and to the token before it" in exercise.task
    rows = len(scene(window).hypothesis.ids)
    assert exercise.answer.startswith(f"{rows * rows - 2 * rows + 1}.")
    assert masked_cells(scene(plain, SENTENCES[0], MaskOff("causal"))) is None
    assert masked_cells(scene(plain, SENTENCES[0], MaskCell("decoder", 0, 0, 1, 2, True))) is None
    assert masked_cells(scene(plain, SENTENCES[0], MaskCell("decoder", 1, 2, 1, 2, True))) is None
