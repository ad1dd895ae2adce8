"""A small model learns a toy task: the proof, from end to end, that all parts work together.

Bounded in updates, never in seconds. The full-sized tasks are those of the recipes (see test_shipped_toys.py).
"""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.benchmarks.toys import exact_match, fresh_pairs, mass, mirrored
from tests.support.small_training import toy_recipe
from transformer.config import ModelConfig, Recipe
from transformer.decoding.translator import Translator
from transformer.training import train


def task(name: str, updates: int) -> Recipe:
    recipe = toy_recipe(
        updates=updates,
        label_smoothing=0.0,
        warmup=50,
        peak_rate=0.01,
        cooldown=0.4,
        clip_norm=1.0,
        validate_every=updates,
        save_every=updates,
        log_every=100,
        average_last=1,
    )
    model = ModelConfig(
        vocab_size=400,
        encoder_layers=1,
        decoder_layers=1,
        d_model=32,
        d_ff=64,
        heads=2,
        norm="pre",
        dropout=0.0,
        embedding_dropout=0.0,
    )
    data = replace(recipe.data, toy=name, toy_symbols=6, toy_min_length=2, toy_max_length=5, toy_epoch=5000)
    return replace(recipe, model=model, data=replace(data, tokens_per_batch=500))


@pytest.mark.parametrize(("name", "updates"), [("copy", 250), pytest.param("reverse", 400, marks=pytest.mark.soak)])
def test_a_tiny_model_learns_to_copy_and_to_reverse_sequences_it_has_never_seen(
    name: str, updates: int, tmp_path: Path
) -> None:
    recipe = task(name, updates)
    translator = Translator.load(train(recipe, tmp_path, device="cpu"))
    pairs = fresh_pairs(recipe.data, 200)
    assert exact_match(translator, pairs) > 0.9
    if name == "reverse":
        heads = mass(translator, pairs, mirrored)
        assert heads.shape == (1, 2)
        assert heads.max() > 0.5
