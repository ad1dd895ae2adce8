"""A model with edits, and its comparison with a model that was changed by hand."""

import torch
from torch import Tensor

from tests.support.small_model import batch, cached_logits
from transformer.analysis.edits import Edit, model_edits
from transformer.model import EditedTransformer, Transformer


def edited(model: Transformer, *edits: Edit) -> EditedTransformer:
    return EditedTransformer(model, model_edits(edits, model))


def logits(model: Transformer, source: Tensor, target: Tensor) -> Tensor:
    with torch.no_grad():
        found: Tensor = model(source, target)
    return found


def twin(model: Transformer) -> Transformer:
    """Another model with the same weights, for an oracle to change."""
    copy = Transformer(model.config).double().eval()
    copy.load_state_dict(model.state_dict())
    return copy


def both_ways(model: Transformer, expected: Transformer, *edits: Edit) -> None:
    """The edited model equals the expected one, in a pass and step by step; and it is not the unedited one."""
    source, target = batch()
    found = edited(model, *edits)
    torch.testing.assert_close(logits(found, source, target), logits(expected, source, target), rtol=0, atol=1e-10)
    whole = target[:1]  # without padding
    with torch.no_grad():
        stepwise, wanted = (cached_logits(each, source[:1], whole) for each in (found, expected))
    torch.testing.assert_close(stepwise, wanted, rtol=0, atol=1e-10)
    assert not torch.allclose(logits(found, source, target), logits(model, source, target))
