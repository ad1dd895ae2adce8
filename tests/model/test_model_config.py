"""What `ModelConfig` refuses, and that its defaults are the paper's."""

import dataclasses
import math
from dataclasses import asdict
from typing import Any

import pytest
from pydantic import ValidationError

from transformer.config import ModelConfig


def test_the_defaults_are_the_papers_base_model() -> None:
    assert asdict(ModelConfig(vocab_size=37_000)) == {
        "vocab_size": 37_000,
        "encoder_layers": 6,
        "decoder_layers": 6,
        "d_model": 512,
        "d_ff": 2048,
        "heads": 8,
        "norm": "post",
        "norm_epsilon": 1e-6,
        "positions": "sinusoidal",
        "sinusoid_layout": "interleaved",
        "max_positions": 1024,
        "shared_embeddings": True,
        "output_bias": False,
        "attention_window": None,
        "causal_training": True,
        "activation": "relu",
        "dropout": 0.1,
        "embedding_dropout": 0.1,
        "attention_dropout": 0.0,
        "activation_dropout": 0.0,
    }
    assert ModelConfig(vocab_size=37_000).d_k == 64


@pytest.mark.parametrize(
    ("key", "least", "most"),
    [
        ("vocab_size", 5, 1_000_000),
        ("encoder_layers", 1, 64),
        ("decoder_layers", 1, 64),
        ("d_model", 8, 16_384),
        ("d_ff", 1, 65_536),
        ("heads", 1, 128),
        ("max_positions", 2, 65_536),
        ("attention_window", 1, None),
    ],
)
def test_sizes_have_bounds(key: str, least: int, most: int | None) -> None:
    good = {"vocab_size": 100}
    for value in {least, most} - {None}:
        assert getattr(ModelConfig(**(good | {key: value})), key) == value  # type: ignore[arg-type]
    beyond: list[Any] = [0, -1, 2.5, "many", 10**9 + 1] if most else [0, -1, 2.5, "many"]
    for value in beyond if most is None else [*beyond, most + 1]:
        with pytest.raises(ValidationError, match=key):
            ModelConfig(**(good | {key: value}))


@pytest.mark.parametrize("rate", ["dropout", "embedding_dropout", "attention_dropout", "activation_dropout"])
def test_rates_are_at_least_0_and_below_1(rate: str) -> None:
    for value in (0.0, 0.999):
        assert getattr(ModelConfig(vocab_size=9, **{rate: value}), rate) == value  # type: ignore[arg-type]
    for value in (1.0, -0.1, math.nan, math.inf):
        with pytest.raises(ValidationError, match=rate):
            ModelConfig(vocab_size=9, **{rate: value})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"norm": "middle"}, "norm"),
        ({"positions": "rotary"}, "positions"),
        ({"sinusoid_layout": "fairseq"}, "sinusoid_layout"),
        ({"activation": "tanh"}, "activation"),
        ({"norm_epsilon": 0.0}, "norm_epsilon"),
        ({"n_heads": 8}, "n_heads"),
        ({"d_model": 100, "heads": 8}, "100 cannot be split evenly over 8 heads"),
        ({"d_model": 9, "heads": 3}, "d_model 9 is odd"),
    ],
    ids=str,
)
def test_impossible_options_are_refused_by_name(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        ModelConfig(**({"vocab_size": 100} | changes))


@pytest.mark.parametrize("positions", ["learned", "none"])
def test_an_odd_width_is_fine_without_sines_and_cosines(positions: str) -> None:
    assert ModelConfig(vocab_size=9, d_model=9, heads=3, positions=positions).d_k == 3  # type: ignore[arg-type]


def test_a_config_cannot_be_changed_and_equals_its_copy() -> None:
    config = ModelConfig(vocab_size=9)
    with pytest.raises(dataclasses.FrozenInstanceError):
        config.heads = 4  # type: ignore[misc]
    assert config == ModelConfig(**asdict(config))
    assert hash(config) == hash(ModelConfig(**asdict(config)))
    with pytest.raises(ValidationError, match="vocab_size"):
        ModelConfig()  # type: ignore[call-arg]
