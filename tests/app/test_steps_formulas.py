"""The formulas and sentences of Step by step are true for the configuration of the model."""

from typing import Any

import pytest

from app.views.steps.stations import Station, stations
from transformer.config import ModelConfig


def station(id: str, **options: Any) -> Station:
    """A station of the walk through a model of one layer with these options."""
    config = ModelConfig(vocab_size=11, d_model=8, heads=2, encoder_layers=1, decoder_layers=1, **options)
    (found,) = [station for station in stations(config) if station.id == id]
    return found


@pytest.mark.parametrize("part", ["self_attention", "feed_forward"])
def test_formulas_have_the_layer_norm_where_the_model_has_it(part: str) -> None:
    base, name = f"encoder.layers.0.{part}", "FFN" if part == "feed_forward" else "Sublayer"
    assert station(f"{base}.residual_sum").formula == rf"x + \mathrm{{{name}}}(x)"
    assert station(f"{base}.residual_sum", norm="pre").formula == rf"x + \mathrm{{{name}}}(\mathrm{{LayerNorm}}(x))"
    post, pre = (station(f"{base}.norm_out", norm=norm) for norm in ("post", "pre"))
    assert "z=x+" in post.formula
    assert "Sublayer" not in pre.formula
    assert (post.section[:11], pre.section) == ("section 3.1", "not in the paper")


def test_the_walk_speaks_of_this_checkpoint_s_positions() -> None:
    where = "encoder.embedding"
    assert "2i+1" in station(f"{where}.positions").formula
    assert "2i+1" not in station(f"{where}.positions", sinusoid_layout="concatenated").formula
    for kind in ("learned", "none"):
        assert not station(f"{where}.positions", positions=kind).formula
        assert "as large as the positions" not in station(f"{where}.scaled", positions=kind).text
    none = station(f"{where}.output", positions="none")
    assert "PE" not in none.formula
    assert "position in one vector" not in none.text


def test_a_mask_with_a_window_is_not_said_to_allow_everything() -> None:
    for stack, reach in (("encoder", "rows t − 1 to t + 1."), ("decoder", "rows t − 1 to t.")):
        text = station(f"{stack}.layers.0.self_attention.mask", attention_window=1).text
        assert "every row may attend to every key" not in text
        assert reach in text
    assert (
        "every row may attend to every key" in station("decoder.layers.0.cross_attention.mask", attention_window=1).text
    )


def test_of_the_activation_is_said_what_it_is() -> None:
    where = "encoder.layers.0.feed_forward.activated"
    for activation, silent, section in (("relu", "below zero become 0", "2"), ("silu", "nearly 0", "the ReLU")):
        found = station(where, activation=activation)
        assert silent in found.text
        assert found.section.endswith(section)


def test_the_walk_says_whether_logits_come_from_the_embedding_s_matrix() -> None:
    assert "W_{emb}" in station("logits").formula
    assert "W_{out}" in station("logits", shared_embeddings=False).formula
    assert "own matrix" in station("decoder.embedding.tokens", shared_embeddings=False).text


def test_the_walk_says_whether_logits_have_a_bias() -> None:
    with_bias = station("logits", output_bias=True)
    assert "b_{out}" in with_bias.formula
    assert "has a bias besides" in with_bias.text
    assert "b_{out}" not in station("logits").formula


def test_rows_are_counted_alike_wherever_their_piece_is_named() -> None:
    assert "row t reads token t and predicts token t + 1" in station("shifted").text
