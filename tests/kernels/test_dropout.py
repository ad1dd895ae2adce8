"""Dropout: four rates, four places (section 5.4 has the first two), none of them active in eval mode."""

from typing import Any

import pytest
import torch
from torch import Tensor

from tests.support.small_model import batch, cached_logits, everything, randomised, small
from transformer.kernels.dropout import dropout
from transformer.model import NULL_PROBE, Probe, Transformer
from transformer.model.attention import attend

ALMOST_ONE = 1 - 1e-9
RATES = ("dropout", "embedding_dropout", "attention_dropout", "activation_dropout")


def zero_or_bias(values: Tensor, bias: Tensor) -> bool:
    return torch.equal(values, bias.expand_as(values))


def places_that_are_zero(model: Transformer, records: dict[str, Tensor]) -> dict[str, set[bool]]:
    """For each rate, whether the tensor after its dropout is zero, over all layers: {True} in all, {False} in none."""
    found: dict[str, set[bool]] = {rate: set() for rate in RATES}
    for stack in (model.encoder, model.decoder):
        prefix = "encoder" if stack is model.encoder else "decoder"
        entering = records[f"{prefix}.layers.0.self_attention.residual_in"]
        assert records[f"{prefix}.embedding.output"].ne(0).all()  # the site is before the dropout
        found["embedding_dropout"].add(bool(entering.eq(0).all()))
        for i, ours in enumerate(stack.layers):
            layer: Any = ours
            at = f"{prefix}.layers.{i}."
            for kind in ("self_attention", "cross_attention", "feed_forward"):
                if at + kind + ".residual_in" not in records:
                    continue
                before, after = records[f"{at}{kind}.residual_in"], records[f"{at}{kind}.residual_sum"]
                found["dropout"].add(torch.equal(before, after))
                if kind == "feed_forward":
                    assert records[f"{at}{kind}.activated"].ne(0).any()
                    output, bias = records[f"{at}{kind}.output"], layer.feed_forward.output.bias
                    found["activation_dropout"].add(zero_or_bias(output, bias))
                else:
                    found["attention_dropout"].add(bool(records[f"{at}{kind}.context"].eq(0).all()))
    return found


@pytest.mark.parametrize("norm", ["post", "pre"])
@pytest.mark.parametrize("rate", RATES)
@torch.no_grad()
def test_each_rate_drops_its_own_place_and_no_other(rate: str, norm: str) -> None:
    none = {"dropout": 0.0, "embedding_dropout": 0.0}
    model = randomised(small(norm=norm, activation="gelu", **(none | {rate: ALMOST_ONE}))).train()
    records = everything(model, *batch())
    assert places_that_are_zero(model, records) == {name: {name == rate} for name in RATES}


@pytest.mark.parametrize("gradients", [True, False])
@pytest.mark.parametrize("shape", [(2, 2, 64, 8), (64, 2, 1, 8)], ids=str)
def test_both_paths_of_attention_drop_weights_alike(shape: tuple[int, ...], gradients: bool) -> None:
    with torch.set_grad_enabled(gradients):
        drop_on_both_roads(shape)


def drop_on_both_roads(shape: tuple[int, ...]) -> None:
    query = torch.randn(shape, dtype=torch.float64)
    key, value = (torch.randn(shape[0], 2, 64, 8, dtype=torch.float64) for _ in range(2))
    watched = Probe(["products", "scores", "mask", "masked_scores", "weights"], ["weights"])
    for probe in (NULL_PROBE, watched):
        assert attend(query, key, value, None, probe, ALMOST_ONE).eq(0).all()
        kept = attend(query, key, torch.ones_like(value), None, probe, 0.5)  # of weights that sum to 1, doubled
        assert kept.mean().item() == pytest.approx(1.0, abs=0.05)
        assert kept.std().item() > 0.05


@torch.no_grad()
def test_recorded_weights_sum_to_one_in_training_too() -> None:
    model = randomised(small(dropout=0.5, embedding_dropout=0.5, attention_dropout=0.5, activation_dropout=0.5))
    source, target = batch()
    count = 0
    for name, weights in everything(model.train(), source, target).items():
        if name.endswith("attention.weights"):
            torch.testing.assert_close(weights.sum(-1), torch.ones_like(weights[..., 0]), rtol=0, atol=1e-12)
            count += 1
    assert count == 5


@torch.no_grad()
def test_eval_mode_is_deterministic_and_without_dropout_on_all_paths() -> None:
    rates = dict.fromkeys(RATES, 0.5)
    dropping, plain = randomised(small(**rates)), randomised(small(**dict.fromkeys(RATES, 0.0)))
    source, target = batch()
    for run in (
        lambda model: model(source, target),
        lambda model: everything(model, source, target)["logits"],
        lambda model: cached_logits(model, source, target),
    ):
        first = run(dropping)
        assert torch.equal(run(dropping), first)
        assert torch.equal(run(plain), first)
        assert torch.equal(run(plain.train()), first)
        assert not torch.equal(run(dropping.train()), first)
        plain.eval()
        dropping.eval()


def test_the_defaults_are_the_papers_two_rates() -> None:
    config = small()
    assert [getattr(config, rate) for rate in RATES] == [0.1, 0.1, 0.0, 0.0]


@pytest.mark.parametrize("is_cpu", [True, False])
@pytest.mark.parametrize("rate", [0.1, 0.5, 0.9])
def test_a_share_of_rate_is_dropped_and_the_expected_value_stays(
    rate: float, is_cpu: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.Tensor, "is_cpu", is_cpu)  # the code for other devices, tried on the CPU
    torch.manual_seed(0)
    ones = torch.ones(1000, 1003, requires_grad=True)
    dropped = dropout(ones, rate)
    deviation = (rate * (1 - rate) / ones.numel()) ** 0.5
    assert dropped.eq(0).double().mean().item() == pytest.approx(rate, abs=4 * deviation + 2**-17)
    assert dropped.unique().tolist() == [0.0, pytest.approx(1 / (1 - rate), rel=1e-3)]
    assert dropped.double().mean().item() == pytest.approx(1.0, abs=4 * deviation / (1 - rate))
    dropped.sum().backward()
    assert ones.grad is not None
    assert torch.equal(ones.grad, dropped)


def test_neighbours_are_dropped_independently() -> None:
    """Four neighbours share a draw of 64 bits, and must not notice."""
    torch.manual_seed(0)
    gone = dropout(torch.ones(250_000, 4), 0.3).eq(0).double()
    covariance = gone.T.cov()
    off_diagonal = covariance - covariance.diag().diag()
    assert off_diagonal.abs().max().item() < 5 * 0.3 * 0.7 / 500
    assert gone[1:, 0].mul(gone[:-1, 3]).mean().item() == pytest.approx(0.09, abs=0.005)
