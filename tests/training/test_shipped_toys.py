"""The toy models that ship solve their task, and one head of each attends to the right token.

All numbers are in pretrained/*.md.
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tests.benchmarks.toys import Cells, exact_match, fresh_pairs, mass, mirrored, swapped
from transformer.checkpoint.header import read_header
from transformer.config import DecodingConfig
from transformer.decoding.translator import Translator
from transformer.recipe import load_recipe

PRETRAINED = Path(__file__).parents[2] / "pretrained"
TOYS = [("reverse", mirrored), ("numbers", swapped)]
GREEDY = DecodingConfig(method="greedy")


@pytest.mark.parametrize(("name", "cells"), TOYS)
def test_a_shipped_toy_solves_its_task_and_a_head_attends_to_the_right_tokens(
    name: str, cells: Callable[[list[str], list[str]], Cells]
) -> None:
    translator = Translator.load(PRETRAINED / f"{name}.safetensors")
    pairs = fresh_pairs(load_recipe(name).data, 200)
    assert len(pairs) == 200
    assert exact_match(translator, pairs, GREEDY) >= 0.99
    heads = mass(translator, pairs, cells)
    assert heads.max() > 0.8
    assert np.all(heads <= 1.0)


@pytest.mark.parametrize("name", [name for name, _ in TOYS])
def test_a_shipped_toy_was_trained_by_the_recipe_that_ships(name: str) -> None:
    header = read_header(PRETRAINED / f"{name}.safetensors")
    recipe = load_recipe(name)
    assert header.recipe is not None
    for section in ("data", "training", "decoding"):
        options = vars(getattr(recipe, section))
        then = header.recipe[section]  # without the options that are younger than this checkpoint
        now = {option: list(value) if isinstance(value, tuple) else value for option, value in options.items()}
        assert then == {option: value for option, value in now.items() if option in then}
    assert header.metrics["update"] == recipe.training.updates


@pytest.mark.parametrize(
    ("source", "target"), [("forty-two", "zweiundvierzig"), ("nine thousand, nine hundred and ninety-nine", None)]
)
def test_the_numbers_of_the_readme_are_translated_correctly(source: str, target: str | None) -> None:
    expected = target or "neuntausendneunhundertneunundneunzig"
    assert Translator.load(PRETRAINED / "numbers.safetensors").translate(source).text == expected
