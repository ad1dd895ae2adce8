"""The weights: how many, which are shared, how they are initialised, and that every factor is applied once."""

import copy
import math
from dataclasses import replace

import pytest
import torch
from torch import nn

from tests.support.small_model import batch, everything, randomised, small
from transformer.config import ModelConfig
from transformer.model import Probe, Transformer
from transformer.model.attention import attend

BASE = ModelConfig(vocab_size=41_000)


def count(config: ModelConfig) -> int:
    with torch.device("meta"):
        return sum(parameter.numel() for parameter in Transformer(config).parameters())


def formula(config: ModelConfig) -> int:
    """Counted from the paper's equations, with a bias for every linear map but the last."""
    d, f, n, m = config.d_model, config.d_ff, config.encoder_layers, config.decoder_layers
    attention, feed_forward, norm = 4 * (d * d + d), d * f + f + f * d + d, 2 * d
    encoder_layer = attention + feed_forward + 2 * norm
    decoder_layer = 2 * attention + feed_forward + 3 * norm
    embeddings = (1 if config.shared_embeddings else 3) * config.vocab_size * d
    positions = 2 * config.max_positions * d if config.positions == "learned" else 0
    closing = 2 * norm if config.norm == "pre" else 0
    return n * encoder_layer + m * decoder_layer + embeddings + positions + closing


@pytest.mark.parametrize("norm", ["post", "pre"])
@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("positions", ["sinusoidal", "learned", "none"])
def test_parameter_counts_follow_the_formula(norm: str, shared: bool, positions: str) -> None:
    config = small(norm=norm, shared_embeddings=shared, positions=positions, encoder_layers=2, decoder_layers=3)
    assert count(config) == formula(config)


@pytest.mark.parametrize(
    ("changes", "millions"),
    [
        ({}, 65),
        ({"encoder_layers": 2, "decoder_layers": 2}, 36),
        ({"encoder_layers": 4, "decoder_layers": 4}, 50),
        ({"encoder_layers": 8, "decoder_layers": 8}, 80),
        ({"d_model": 256}, 28),
        ({"d_model": 1024}, 168),
        ({"d_ff": 1024}, 53),
        ({"d_ff": 4096}, 90),
    ],
    ids=str,
)
def test_parameter_counts_are_those_of_table_3(changes: dict[str, int], millions: int) -> None:
    """With V = 41,000. (The paper says "about 37000", with which neither its rows add up nor its big model.)"""
    config = replace(BASE, **changes)  # type: ignore[arg-type]
    assert count(config) / 1e6 == pytest.approx(millions, abs=0.55)


def test_every_sub_layer_has_a_norm_of_its_own() -> None:
    for norm, closing in (("post", 0), ("pre", 2)):
        model = Transformer(small(norm=norm, encoder_layers=2, decoder_layers=3))
        norms = [module for module in model.modules() if isinstance(module, nn.LayerNorm)]
        assert len(norms) == len({id(module.weight) for module in norms}) == 2 * 2 + 3 * 3 + closing


def one_matrix(model: Transformer) -> bool:
    weights = (model.encoder.embedding.tokens.weight, model.decoder.embedding.tokens.weight, model.output.weight)
    return len({id(weight) for weight in weights}) == len({weight.data_ptr() for weight in weights}) == 1


def test_shared_embeddings_stay_one_parameter_through_copies_moves_and_loads() -> None:
    model = Transformer(small())
    loaded = Transformer(small())
    loaded.load_state_dict(model.state_dict())
    for one in (model, copy.deepcopy(model), copy.deepcopy(model).to(torch.bfloat16), loaded):
        assert one_matrix(one)
    names = [name for name, parameter in model.named_parameters() if parameter is model.output.weight]
    assert names == ["encoder.embedding.tokens.weight"]  # listed once, so an optimizer counts it once


def test_untied_embeddings_are_three_matrices() -> None:
    model = Transformer(small(shared_embeddings=False))
    weights = [model.encoder.embedding.tokens.weight, model.decoder.embedding.tokens.weight, model.output.weight]
    assert len({weight.data_ptr() for weight in weights}) == 3
    assert not torch.equal(weights[0], weights[1])
    assert not torch.equal(weights[1], weights[2])


@torch.no_grad()
@pytest.mark.parametrize("shared", [True, False])
def test_embeddings_are_scaled_in_both_stacks_and_not_at_the_output(shared: bool) -> None:
    model = randomised(small(shared_embeddings=shared))
    source, target = batch()
    records = everything(model, source, target)
    for stack, ids in (("encoder", source), ("decoder", target)):
        matrix = (model.encoder if stack == "encoder" else model.decoder).embedding.tokens.weight
        assert torch.equal(records[f"{stack}.embedding.tokens"], matrix[ids])
        expected = matrix[ids] * math.sqrt(model.config.d_model)
        torch.testing.assert_close(records[f"{stack}.embedding.scaled"], expected, rtol=0, atol=1e-12)
    states = records["decoder.layers.1.feed_forward.norm_out"]
    expected = states @ model.output.weight.T
    torch.testing.assert_close(records["logits"], expected, rtol=0, atol=1e-12)
    torch.testing.assert_close(records["probabilities"], expected.softmax(-1), rtol=0, atol=1e-12)


@pytest.mark.parametrize("shared", [True, False])
def test_scaled_embeddings_have_unit_deviation_at_the_start(shared: bool) -> None:
    for d_model in (64, 256):
        model = Transformer(small(d_model=d_model, vocab_size=4000, shared_embeddings=shared))
        for matrix in (model.encoder.embedding.tokens, model.decoder.embedding.tokens, model.output):
            deviation = matrix.weight.std().item() * math.sqrt(d_model)
            assert 0.95 < deviation < 1.05


def test_learned_positions_have_the_deviation_of_the_embeddings_at_the_start() -> None:
    model = Transformer(small(d_model=64, positions="learned", max_positions=512))
    for stack in (model.encoder, model.decoder):
        assert 0.95 < stack.embedding.positions.table.std().item() * math.sqrt(64) < 1.05


@pytest.mark.parametrize(("shared", "norm"), [(True, "post"), (False, "post"), (True, "pre")])
@torch.no_grad()
def test_the_first_loss_is_that_of_guessing(shared: bool, norm: str) -> None:
    """Within 10 % of ln V at V = 8000, with logits of deviation about 1."""
    vocabulary = 8000
    model = Transformer(
        small(vocab_size=vocabulary, d_model=128, d_ff=256, heads=4, shared_embeddings=shared, norm=norm,
              encoder_layers=2, decoder_layers=2)
    ).eval()  # fmt: skip
    source, target = torch.randint(4, vocabulary, (8, 20)), torch.randint(4, vocabulary, (8, 16))
    logits = model(source, target)
    assert 0.8 < logits.std().item() < 1.3
    labels = torch.randint(4, vocabulary, (8, 16))
    loss = nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten()).item()
    assert loss == pytest.approx(math.log(vocabulary), rel=0.1)


def test_no_two_layers_start_the_same() -> None:
    model = Transformer(small(encoder_layers=2, decoder_layers=2))
    matrices = [m.weight for m in model.modules() if isinstance(m, nn.Linear)]
    assert len(matrices) == 2 * 6 + 2 * 10
    for i, one in enumerate(matrices):
        assert all(one.shape != other.shape or not torch.equal(one, other) for other in matrices[:i])


def test_linear_maps_start_in_glorots_bounds_with_zero_biases() -> None:
    for module in Transformer(small(d_model=64, d_ff=200)).modules():
        if isinstance(module, nn.Linear):
            bound = math.sqrt(6 / (module.in_features + module.out_features))
            assert 0.95 * bound < module.weight.abs().max().item() <= bound
            assert module.bias.eq(0).all()


def test_layer_norm_divides_by_the_biased_deviation_with_epsilon_under_the_root() -> None:
    for epsilon in (1e-6, 1e-2):
        norm = randomised(small(norm_epsilon=epsilon)).encoder.layers[0].self_attention_residual.norm
        x = torch.randn(3, 8, dtype=torch.float64) * 0.1
        variance = x.var(dim=-1, keepdim=True, unbiased=False)
        expected = (x - x.mean(dim=-1, keepdim=True)) / torch.sqrt(variance + epsilon) * norm.weight + norm.bias
        torch.testing.assert_close(norm(x), expected, rtol=0, atol=1e-12)
        constant = torch.full((1, 8), 3.7, dtype=torch.float64)
        torch.testing.assert_close(norm(constant)[0], norm.bias, rtol=0, atol=1e-12)


def test_scores_of_random_queries_and_keys_have_variance_one_whatever_the_number_of_heads() -> None:
    """So they do when divided by sqrt(d_k), and not by sqrt(d_model) (footnote 4 of the paper)."""
    for heads in (1, 4, 16):
        query, key = torch.randn(2, 4, heads, 50, 64 // heads)
        probe = Probe(["products", "scores", "mask", "masked_scores", "weights"], ["scores"])
        attend(query, key, key, None, probe)
        assert probe.records["scores"].var().item() == pytest.approx(1.0, abs=0.1)


@torch.no_grad()
def test_the_order_of_the_heads_does_not_matter() -> None:
    """Permuting the rows of W^Q, W^K, W^V and the columns of W^O by whole heads leaves the output as it was."""
    model = randomised(small(heads=4))
    attention = model.encoder.layers[0].self_attention
    x = torch.randn(2, 5, 8, dtype=torch.float64)
    before = attention(x, x, None)
    order = torch.tensor([2, 0, 3, 1])
    rows = torch.arange(8).view(4, 2)[order].flatten()
    for projection in (attention.query, attention.key, attention.value):
        projection.weight.copy_(projection.weight[rows])
        projection.bias.copy_(projection.bias[rows])
    moved = attention(x, x, None)
    assert not torch.allclose(moved, before)
    attention.output.weight.copy_(attention.output.weight[:, rows])
    torch.testing.assert_close(attention(x, x, None), before, rtol=0, atol=1e-12)
