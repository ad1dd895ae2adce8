"""A decoder without its causal mask, against masks.py and torch's attention without a mask."""

from dataclasses import replace

import pytest
import torch
from torch import nn

from tests.support.edited_model import edited
from tests.support.small_model import batch, cached_logits, everything, randomised, sites, small
from transformer.analysis.edits import MaskOff
from transformer.config import PAD
from transformer.model import Probe, Transformer, masks

SITE = "decoder.layers.{}.self_attention.mask"


@pytest.mark.parametrize("window", [None, 1])
def test_without_the_causal_mask_the_mask_is_that_of_training_without_it(window: int | None) -> None:
    model = randomised(small(attention_window=window))
    source, target = batch()
    probe = Probe(sites(model.config), [SITE.format("*")])
    with torch.no_grad():
        edited(model, MaskOff("causal"))(source, target, probe)
    expected = masks.target_mask(target, window, causal=False)
    for layer in range(model.config.decoder_layers):
        found = probe.records[SITE.format(layer)]
        assert torch.equal(found, expected.expand_as(found))
    assert PAD in target  # so that padding was part of it


def test_without_the_causal_mask_the_logits_are_those_of_a_model_in_which_no_mask_was_built() -> None:
    model = randomised(small())
    source, target = batch(padded=False)
    free = Transformer(replace(model.config, causal_training=False)).double().eval()
    free.load_state_dict(model.state_dict())
    free.decoder.training = True  # of which only the causal mask depends on it: the layers, and so dropout, do not
    with torch.no_grad():
        expected = free(source, target)
        found = edited(model, MaskOff("causal"))(source, target)
    torch.testing.assert_close(found, expected)
    assert not torch.allclose(found, model(source, target))


def test_attention_without_the_causal_mask_is_torchs_without_a_mask() -> None:
    """`nn.MultiheadAttention` with the weights of the first decoder layer, and no mask at all."""
    model = randomised(small())
    source, target = batch(padded=False)
    records = everything(edited(model, MaskOff("causal")), source, target)
    own = model.decoder.layers[0].self_attention
    oracle = nn.MultiheadAttention(model.config.d_model, model.config.heads, batch_first=True, dtype=torch.float64)
    with torch.no_grad():
        oracle.in_proj_weight.copy_(torch.cat([own.query.weight, own.key.weight, own.value.weight]))
        oracle.in_proj_bias.copy_(torch.cat([own.query.bias, own.key.bias, own.value.bias]))
        oracle.out_proj.load_state_dict(own.output.state_dict())
        x = records["decoder.embedding.output"]
        output, weights = oracle(x, x, x, average_attn_weights=False)
    torch.testing.assert_close(records["decoder.layers.0.self_attention.weights"], weights)
    torch.testing.assert_close(records["decoder.layers.0.self_attention.output"], output)


def test_decoding_step_by_step_is_the_same_without_the_causal_mask() -> None:
    model = randomised(small())
    source, target = batch(padded=False)
    with torch.no_grad():
        found = cached_logits(edited(model, MaskOff("causal")), source, target)
        torch.testing.assert_close(found, cached_logits(model, source, target))
