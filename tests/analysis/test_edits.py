"""Edits by name, against models that lack the part: torch's decoder without a mask, a table of zeros, masks.py."""

from dataclasses import replace

import pytest
import torch
from torch import Tensor, nn

from tests.support.small_model import batch, cached_logits, everything, randomised, sites, small
from transformer.analysis.edits import EditName, edits_of
from transformer.config import PAD
from transformer.model import EditedTransformer, Probe, Transformer, masks

SITE = "decoder.layers.{}.self_attention.mask"


def edited(model: Transformer, *names: EditName) -> EditedTransformer:
    return EditedTransformer(model, edits_of(names, model.config))


@pytest.mark.parametrize("window", [None, 1])
def test_without_the_causal_mask_the_mask_is_that_of_training_without_it(window: int | None) -> None:
    model = randomised(small(attention_window=window))
    source, target = batch()
    probe = Probe(sites(model.config), [SITE.format("*")])
    with torch.no_grad():
        edited(model, "no causal mask")(source, target, probe)
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
        found = edited(model, "no causal mask")(source, target)
    torch.testing.assert_close(found, expected)
    assert not torch.allclose(found, model(source, target))


def test_attention_without_the_causal_mask_is_torchs_without_a_mask() -> None:
    """`nn.MultiheadAttention` with the weights of the first decoder layer, and no mask at all."""
    model = randomised(small())
    source, target = batch(padded=False)
    records = everything(edited(model, "no causal mask"), source, target)
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
        found = cached_logits(edited(model, "no causal mask"), source, target)
        torch.testing.assert_close(found, cached_logits(model, source, target))


def test_without_positions_the_encoder_is_one_whose_table_is_zeros() -> None:
    model, zeros = randomised(small(positions="learned")), randomised(small(positions="learned"))
    source, target = batch()
    with torch.no_grad():
        assert zeros.encoder.embedding.positions.table is not zeros.decoder.embedding.positions.table
        zeros.encoder.embedding.positions.table.zero_()
        torch.testing.assert_close(edited(model, "no encoder positions")(source, target), zeros(source, target))
        stepwise = cached_logits(edited(model, "no encoder positions"), source, target)
        torch.testing.assert_close(stepwise, cached_logits(zeros, source, target))


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_without_positions_the_encoder_takes_the_words_as_a_set(norm: str) -> None:
    model = randomised(small(norm=norm))
    source, _ = batch(padded=False)
    order = torch.tensor([3, 0, 5, 1, 2, 4, 6])

    def memory(of: Transformer, ids: Tensor) -> Tensor:
        state = of.start(ids)
        return state.layers[-1].cross_key  # (B, H, S, E): a linear function of the encoder's output

    with torch.no_grad():
        plain, shuffled = (memory(edited(model, "no encoder positions"), ids) for ids in (source, source[:, order]))
        torch.testing.assert_close(shuffled, plain[:, :, order])
        assert not torch.allclose(memory(model, source[:, order]), memory(model, source)[:, :, order])


def test_an_edited_model_leaves_the_other_one_as_it_was_and_shares_its_weights() -> None:
    model = randomised(small())
    source, target = batch()
    with torch.no_grad():
        before = model(source, target)
        both = edited(model, "no causal mask", "no encoder positions")
        assert not torch.allclose(both(source, target), before)
        assert torch.equal(model(source, target), before)
    assert both.parameter_count == model.parameter_count
    assert {id(each) for each in both.parameters()} == {id(each) for each in model.parameters()}


def test_a_probe_of_an_edited_model_edits_after_it_and_records_what_comes_out() -> None:
    model = randomised(small())
    probe = Probe(sites(model.config), ["encoder.embedding.*"], {"encoder.embedding.positions": lambda x: x + 1})
    with torch.no_grad():
        edited(model, "no encoder positions")(*batch(), probe)
    found = probe.records["encoder.embedding.positions"]
    assert torch.equal(found, torch.ones_like(found))
