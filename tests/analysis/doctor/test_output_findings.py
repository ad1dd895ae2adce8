"""Findings about a translation: it repeats itself, is empty, or is uncertain."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from tests.support.findings import LETTERS, named
from transformer.analysis.doctor import diagnose, examine, examine_checkpoint
from transformer.analysis.doctor.output_findings import longest_loop
from transformer.config import EOS
from transformer.decoding.translator import Translator
from transformer.model import Transformer


@torch.no_grad()
def always(model: Transformer, id: int) -> None:
    """The decoder predicts this token, whatever it reads."""
    assert model.decoder.norm is not None
    model.decoder.norm.weight.mul_(1e-3)
    model.decoder.norm.bias.copy_(100 * torch.nn.functional.normalize(model.output.weight[id], dim=0))


def test_an_output_that_repeats_itself_is_found(reverse: Translator) -> None:
    always(reverse.model, reverse.tokenizer.encode("c")[-1])
    found = named(diagnose(reverse, LETTERS))
    assert "“c" in found["loop"].says
    assert "48 times in a row" in found["loop"].says
    assert "After 48 tokens" in found["cut"].says
    assert {"ignores_source"} <= found.keys()
    assert "loop" not in named(diagnose(reverse, "c c c c c"))  # so does the source


@pytest.mark.parametrize(
    ("source", "target", "is_found"),
    [
        ((13, 19, 14, 19, 15, 19, 16, 19), (19, 19, 19, 19, 13, 14, 15, 16), False),  # sorted
        ((13, 19, 14, 19, 15), (19, 19, 19, 19, 13, 14, 15), True),
        ((18, 18, 18), (19, 19, 19, 19, 19), True),
        ((18, 18, 18), (11, 12, 11, 12, 11, 12), False),  # the source repeats a token as often
    ],
)
def test_tokens_that_the_source_has_as_often_are_no_loop(
    reverse: Translator, source: tuple[int, ...], target: tuple[int, ...], is_found: bool
) -> None:
    translation = reverse.translate(LETTERS).sentences[0]
    hypothesis = replace(
        translation.hypotheses[0], ids=(*target, EOS), tokens=(*map(reverse.tokenizer.token, target), "</s>")
    )
    translation = replace(translation, source_ids=(*source, EOS))
    found = examine(reverse, examine_checkpoint(reverse), translation, hypothesis)
    assert ("loop" in named(found)) is is_found


@pytest.mark.parametrize(
    ("ids", "expected"),
    [
        ([1, 2, 3, 4, 5, 6], (0, 0, 0)),
        ([9, 9, 9, 5], (0, 0, 0)),  # too little to be a loop
        ([1, 9, 9, 9, 9, 5], (1, 1, 4)),
        ([7, 1, 2, 1, 2, 1, 2, 3], (1, 2, 3)),
        ([1, 2, 1, 2, 3, 4], (0, 0, 0)),
    ],
)
def test_loops_are_found_with_position_and_length(ids: list[int], expected: tuple[int, int, int]) -> None:
    assert longest_loop(ids) == expected


def test_an_empty_translation_is_reported(reverse: Translator) -> None:
    always(reverse.model, EOS)
    found = named(diagnose(reverse, LETTERS))
    assert "1 token and no text" in found["empty"].says
    assert "cut" not in found


def test_a_model_with_uncertain_predictions_is_found(reverse: Translator) -> None:
    assert reverse.model.decoder.norm is not None
    for weight in (reverse.model.decoder.norm.weight, reverse.model.decoder.norm.bias):
        weight.data.mul_(0.05)
    says = named(diagnose(reverse, LETTERS))["hesitates"].says
    tokens = int(says.split("among ")[1].split(" ")[0])
    assert 0.5 * np.log(313) < np.log(tokens) <= np.log(313)
