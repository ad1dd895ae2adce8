"""Many edits at once, each in its own row of the batch, equal models with one edit each."""

from typing import Literal

import numpy as np
import pytest
import torch

from tests.support.small_model import randomised, small
from transformer.analysis.each_edit import log_probabilities_with_each, parts_by_layer
from transformer.analysis.edits import Edit, HeadOff, MaskOff, PositionsOff, ResidualOff, SublayerOff, model_edits
from transformer.config import BOS, EOS
from transformer.errors import HeadlightError
from transformer.model import EditedTransformer, Transformer

SOURCE, TARGET = (5, 6, 7, 4, EOS), (8, 9, 11, EOS)


def one_by_one(model: Transformer, edit: Edit) -> np.ndarray:
    """(T), from a model that has this edit alone."""
    edited = EditedTransformer(model, model_edits([edit], model))
    with torch.no_grad():
        logits = edited(torch.tensor([SOURCE]), torch.tensor([[BOS, *TARGET[:-1]]]))  # (1, T, V)
    found: np.ndarray = logits[0].log_softmax(dim=-1)[range(len(TARGET)), list(TARGET)].numpy()
    return found


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_each_row_is_the_model_with_that_edit_alone(norm: Literal["pre", "post"]) -> None:
    model = randomised(small(encoder_layers=2, heads=4, norm=norm))
    parts = [part for layer in parts_by_layer(model.config) for part in layer]
    edits = [*parts, MaskOff("causal"), PositionsOff()]
    found = log_probabilities_with_each(model, SOURCE, TARGET, edits)
    assert found.shape == (len(edits), len(TARGET))
    for edit, row in zip(edits, found, strict=True):
        np.testing.assert_allclose(row, one_by_one(model, edit), atol=1e-10, err_msg=str(edit))


@pytest.mark.parametrize(
    "edits",
    [
        (HeadOff("cross", 1, 0), SublayerOff("decoder", 0, "feed_forward")),
        (MaskOff("causal"), HeadOff("cross", 1, 0)),
        (PositionsOff(), PositionsOff("decoder")),
    ],
)
def test_edits_are_right_wherever_the_rows_begin(edits: tuple[Edit, Edit]) -> None:
    model = randomised(small())
    for edit, row in zip(edits, log_probabilities_with_each(model, SOURCE, TARGET, edits), strict=True):
        np.testing.assert_allclose(row, one_by_one(model, edit), atol=1e-10)


def test_what_comes_before_the_first_edited_site_is_computed_once_for_all_rows() -> None:
    model = randomised(small(decoder_layers=3))
    sizes = []
    for layer in model.decoder.layers:
        layer.feed_forward.register_forward_hook(lambda _, read, __: sizes.append(len(read[0])))
    edits = [HeadOff("cross", 1, head) for head in range(2)] + [HeadOff("decoder", 2, 0)]
    log_probabilities_with_each(model, SOURCE, TARGET, edits)
    assert sizes == [1, 3, 3]


def test_the_parts_are_all_heads_and_all_sublayers_once() -> None:
    config = small(encoder_layers=1, decoder_layers=2, heads=2)
    layers = list(parts_by_layer(config))
    assert [len(layer) for layer in layers] == [2 + 2 + 2, 4 + 3 + 3, 4 + 3 + 3]
    parts = [part for layer in layers for part in layer]
    assert len(set(parts)) == len(parts)
    assert sum(isinstance(part, HeadOff) for part in parts) == config.heads * 5
    assert sum(isinstance(part, ResidualOff) for part in parts) == 2 + 3 + 3


def test_an_edit_that_does_not_fit_gets_an_error_message() -> None:
    with pytest.raises(HeadlightError, match="no layer 9"):
        log_probabilities_with_each(randomised(small()), SOURCE, TARGET, [HeadOff("cross", 8, 0)])


def test_no_edits_give_no_rows() -> None:
    assert log_probabilities_with_each(randomised(small()), SOURCE, TARGET, []).shape == (0, len(TARGET))
