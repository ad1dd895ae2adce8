"""The contribution of each source token to each token of a translation: against sums, finite differences, passes."""

import numpy as np
import pytest
import torch

from tests.support.small_model import randomised, small
from transformer.analysis.attribution import (
    SITE,
    gradient_times_input,
    integrated_gradients,
    log_probabilities,
    occlusion,
)
from transformer.analysis.edits import PositionsShifted, model_edits
from transformer.config import BOS, EOS
from transformer.model import Probe, Transformer, census
from transformer.model.edited_transformer import EditedTransformer

SOURCE, TARGET = (5, 6, 7, 5, EOS), (8, 9, 5, EOS)


@pytest.fixture(params=["post", "pre"])
def model(request: pytest.FixtureRequest) -> Transformer:
    return randomised(small(encoder_layers=2, norm=request.param))


def read(model: Transformer, source: tuple[int, ...], embedded: torch.Tensor | None = None) -> np.ndarray:
    """One pass over one sentence: (T)."""
    edits = {} if embedded is None else {SITE: lambda now: embedded[None]}
    with torch.no_grad():
        probe = Probe(census(model.config), edits=edits)
        logits = model(torch.tensor([source]), torch.tensor([[BOS, *TARGET[:-1]]]), probe)[0]  # (T, V)
    return np.asarray(logits.log_softmax(-1)[range(len(TARGET)), list(TARGET)])


def embedded(model: Transformer) -> torch.Tensor:
    """(S, D)."""
    probe = Probe(census(model.config), record=[SITE])
    with torch.no_grad():
        model(torch.tensor([SOURCE]), torch.tensor([[BOS]]), probe)
    return probe.records[SITE][0].clone()


def test_integrated_gradients_sum_to_the_difference_to_the_baseline(model: Transformer) -> None:
    found = integrated_gradients(model, SOURCE, TARGET, steps=1024)
    x = embedded(model)
    base = torch.cat([torch.zeros_like(x[:-1]), x[-1:]])
    expected = read(model, SOURCE) - read(model, SOURCE, base)
    np.testing.assert_allclose(found.difference, expected, rtol=0, atol=1e-9)
    np.testing.assert_allclose(found.values.sum(axis=0), expected, rtol=0, atol=3e-3)
    assert found.gap < 3e-3
    assert np.abs(found.values[-1]).max() == 0  # </s> is the same in both


def test_the_error_of_a_coarse_integral_is_reported(model: Transformer) -> None:
    found = integrated_gradients(model, SOURCE, TARGET, steps=8)
    assert found.gap == np.abs(found.values.sum(axis=0) - found.difference).max() > 0.01


def test_gradient_times_input_is_a_finite_difference(model: Transformer) -> None:
    found, x, step = gradient_times_input(model, SOURCE, TARGET), embedded(model), 1e-6
    for token in range(len(SOURCE)):
        change = torch.zeros_like(x)
        change[token] = step * x[token]
        slope = (read(model, SOURCE, x + change) - read(model, SOURCE, x - change)) / (2 * step)
        np.testing.assert_allclose(found[token], slope, rtol=1e-5, atol=1e-7)


def test_occlusion_is_the_loss_of_a_pass_without_the_word(model: Transformer) -> None:
    found = occlusion(model, SOURCE, TARGET, [(0,), (1, 2), (3,)])
    without = [(6, 7, 5, EOS), (5, 5, EOS), (5, 6, 7, EOS)]
    expected = [read(model, SOURCE) - read(model, source) for source in without]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10)
    assert occlusion(model, SOURCE, TARGET, []).shape == (0, len(TARGET))


def test_attributions_of_an_edited_model_include_its_edits(model: Transformer) -> None:
    edited = EditedTransformer(model, model_edits([PositionsShifted(3)], model))
    found = log_probabilities(edited, [SOURCE], TARGET)[0]
    np.testing.assert_allclose(found, read(edited, SOURCE), rtol=0, atol=1e-10)
    assert np.abs(found - read(model, SOURCE)).max() > 1e-3
    assert np.abs(gradient_times_input(edited, SOURCE, TARGET) - gradient_times_input(model, SOURCE, TARGET)).max() > 0


def test_results_are_moved_to_the_cpu_before_they_become_float64(
    model: Transformer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Apple's GPU has no float64. Simulated: `double` accepts only what came from `cpu`."""
    moved: list[torch.Tensor] = []
    double = torch.Tensor.double

    def cpu(tensor: torch.Tensor) -> torch.Tensor:
        moved.append(tensor)
        return tensor

    def checked(tensor: torch.Tensor) -> torch.Tensor:
        assert any(tensor is each for each in moved)
        return double(tensor)

    model.float()
    monkeypatch.setattr(torch.Tensor, "cpu", cpu)
    monkeypatch.setattr(torch.Tensor, "double", checked)
    found = [integrated_gradients(model, SOURCE, TARGET, steps=2).values, gradient_times_input(model, SOURCE, TARGET)]
    found.append(occlusion(model, SOURCE, TARGET, [[0]]))
    assert all(each.dtype == np.float64 for each in found)
