"""Heads that are taken away: as if their rows of W^O were 0."""

import copy

import numpy as np
import pytest
import torch

from tests.support.small_model import randomised, small
from transformer.analysis.head_removal import predictions_with_other_heads
from transformer.config import BOS, EOS
from transformer.model import Transformer
from transformer.model.attention_kinds import SITES, Kind

SOURCE, TARGET = (5, 6, 7, EOS), (8, 9, EOS)


def probabilities(model: Transformer, site: str, removed: list[int]) -> torch.Tensor:
    """(T, V), of a copy of the model in which these heads write nothing, because what multiplies them is 0."""
    model = copy.deepcopy(model)
    width = model.config.d_k
    with torch.no_grad():
        for head in removed:
            model.get_parameter(f"{site}.output.weight")[:, head * width : (head + 1) * width] = 0
        logits: torch.Tensor = model(torch.tensor([SOURCE]), torch.tensor([[BOS, *TARGET[:-1]]]))  # (1, T, V)
        return logits.softmax(dim=-1)[0]


@pytest.mark.parametrize("kind", list(SITES))
@pytest.mark.parametrize("layer", [0, 1])
def test_removing_a_head_equals_zeros_in_its_slice_of_the_output_matrix(kind: Kind, layer: int) -> None:
    model = randomised(small(encoder_layers=2, heads=4))
    heads, site = model.config.heads, SITES[kind].format(layer)
    found = predictions_with_other_heads(model, SOURCE, TARGET, site)
    assert found.heads == heads
    every = list(range(heads))
    cases = [(0, []), (len(found.top) - 1, every)]
    cases += [(found.without(head), [head]) for head in every]
    cases += [(found.alone(head), [other for other in every if other != head]) for head in every]
    assert sorted(row for row, _ in cases) == list(range(len(found.top)))
    for row, removed in cases:
        expected = probabilities(model, site, removed)
        assert np.allclose(found.top_probability[row], expected.max(dim=-1).values, atol=1e-5)
        assert np.allclose(found.probability[row], expected[range(len(TARGET)), list(TARGET)], atol=1e-5)
        assert found.top[row].tolist() == expected.argmax(dim=-1).tolist()
