"""Matching heads: against all permutations of small tables, and on a model whose heads were permuted."""

from itertools import permutations

import numpy as np
import pytest
import torch

from tests.support.small_model import batch, everything, randomised, small
from transformer.analysis.head_matching import assignment, head_distances, match_heads
from transformer.model import Transformer


@pytest.mark.parametrize("shape", [(1, 1), (4, 4), (5, 5), (3, 6), (6, 3), (1, 7), (7, 1)])
@pytest.mark.parametrize("seed", range(5))
def test_an_assignment_has_the_smallest_sum_of_all(shape: tuple[int, int], seed: int) -> None:
    costs = np.random.default_rng(seed).integers(0, 9, shape).astype(float)  # with ties
    found = assignment(costs)
    taken = [column for column in found if column is not None]
    assert len(taken) == len(set(taken)) == min(shape)
    total = sum(costs[row, column] for row, column in enumerate(found) if column is not None)
    table = costs if shape[0] <= shape[1] else costs.T
    rows = range(table.shape[0])
    assert total == min(table[rows, list(order)].sum() for order in permutations(range(table.shape[1]), len(rows)))


def permuted(model: Transformer, orders: list[list[int]]) -> Transformer:
    """The same function with the heads of each layer of the encoder in another order."""
    other = randomised(model.config)
    other.load_state_dict(model.state_dict())
    with torch.no_grad():
        for layer, order in zip(other.encoder.layers, orders, strict=True):
            attention, width = layer.self_attention, model.config.d_k
            places = torch.tensor([head * width + i for head in order for i in range(width)])
            for part in (attention.query, attention.key, attention.value):
                part.weight.copy_(part.weight[places])
                part.bias.copy_(part.bias[places])
            attention.output.weight.copy_(attention.output.weight[:, places])
    return other


def test_permuted_heads_of_a_model_are_matched_back() -> None:
    model = randomised(small(encoder_layers=2, heads=4))
    orders = [[2, 0, 3, 1], [1, 3, 0, 2]]
    source, target = (ids[:1] for ids in batch(padded=False))
    one, other = (everything(each, source, target) for each in (model, permuted(model, orders)))
    torch.testing.assert_close(one["logits"], other["logits"], rtol=0, atol=1e-10)
    weights = [
        np.stack([found[f"encoder.layers.{i}.self_attention.weights"][0].numpy() for i in range(2)])
        for found in (other, one)
    ]
    matches = match_heads(*weights)
    assert [match.partner for match in matches] == [
        (layer, head) for layer, order in enumerate(orders) for head in order
    ]
    assert max(match.distance for match in matches) < 1e-12


def test_the_distance_is_the_weight_on_other_tokens() -> None:
    one = np.array([[[1.0, 0.0], [0.5, 0.5]]])
    other = np.array([[[1.0, 0.0], [0.5, 0.5]], [[0.0, 1.0], [0.5, 0.5]], [[0.0, 1.0], [0.0, 1.0]]])
    assert head_distances(one, other).tolist() == [[0.0, 0.5, 0.75]]


def test_heads_that_are_left_over_have_no_partner() -> None:
    weights = np.random.default_rng(0).dirichlet(np.ones(4), size=(3, 2, 5))  # (L, H, Q, K)
    found = match_heads(weights, weights[1:2])
    assert [match.partner for match in found] == [None, None, (0, 0), (0, 1), None, None]
    assert [match.distance for match in found] == [1, 1, 0, 0, 1, 1]
