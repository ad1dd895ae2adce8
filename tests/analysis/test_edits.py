"""Edits of heads, sub-layers and vectors, against models that lack the part; several edits together."""

import math
import random

import pytest
import torch

from tests.support.edited_model import both_ways, edited, logits, twin
from tests.support.small_model import batch, cached_logits, everything, randomised, sites, small
from transformer.analysis.edits import (
    AttentionWindow,
    Edit,
    HeadOff,
    HeadUniform,
    MaskCell,
    MaskOff,
    PositionsOff,
    PositionsShifted,
    PositionsShuffled,
    ResidualOff,
    SublayerOff,
    Temperature,
    VectorPatched,
    WeightsSet,
)
from transformer.analysis.edits.checks import Stack, Sublayer
from transformer.errors import HeadlightError
from transformer.model import Probe, masks
from transformer.model.attention import MultiHeadAttention
from transformer.model.attention_kinds import SITES, Kind


def test_an_edited_model_leaves_the_other_one_as_it_was_and_shares_its_weights() -> None:
    model = randomised(small())
    source, target = batch()
    with torch.no_grad():
        before = model(source, target)
        both = edited(model, MaskOff("causal"), PositionsOff())
        assert not torch.allclose(both(source, target), before)
        assert torch.equal(model(source, target), before)
    assert both.parameter_count == model.parameter_count
    assert {id(each) for each in both.parameters()} == {id(each) for each in model.parameters()}


def test_a_probe_of_an_edited_model_edits_after_it_and_records_what_comes_out() -> None:
    model = randomised(small())
    probe = Probe(sites(model.config), ["encoder.embedding.*"], {"encoder.embedding.positions": lambda x: x + 1})
    with torch.no_grad():
        edited(model, PositionsOff())(*batch(), probe)
    found = probe.records["encoder.embedding.positions"]
    assert torch.equal(found, torch.ones_like(found))


@pytest.mark.parametrize("kind", ["cross", "encoder", "decoder"])
def test_a_head_that_is_off_is_one_whose_rows_of_the_output_matrix_are_zero(kind: Kind) -> None:
    model = randomised(small())
    expected, width = twin(model), model.config.d_k
    attention = expected.get_submodule(SITES[kind].format(0))
    assert isinstance(attention, MultiHeadAttention)
    with torch.no_grad():
        attention.output.weight[:, width : 2 * width] = 0.0  # head 2; W^O is stored transposed
    both_ways(model, expected, HeadOff(kind, 0, 1))


@pytest.mark.parametrize(
    ("stack", "sublayer"),
    [("encoder", "feed_forward"), ("decoder", "feed_forward"), ("decoder", "self_attention"),
     ("decoder", "cross_attention"), ("encoder", "self_attention")],
)  # fmt: skip
@pytest.mark.parametrize("norm", ["pre", "post"])
def test_a_sublayer_that_is_off_is_one_whose_output_matrix_and_bias_are_zero(
    stack: Stack, sublayer: Sublayer, norm: str
) -> None:
    model = randomised(small(norm=norm))
    expected = twin(model)
    output = getattr(getattr(expected, stack).layers[0], sublayer).output
    with torch.no_grad():
        output.weight.zero_()
        output.bias.zero_()
    both_ways(model, expected, SublayerOff(stack, 0, sublayer))


@pytest.mark.parametrize("kind", ["cross", "encoder", "decoder"])
def test_a_uniform_head_gives_each_key_that_its_mask_allows_the_same_weight(kind: Kind) -> None:
    model, site = randomised(small()), SITES[kind].format(0)
    records = everything(edited(model, HeadUniform(kind, 0, 1)), *batch())
    mask = records[f"{site}.mask"][:, 1].double()
    torch.testing.assert_close(records[f"{site}.weights"][:, 1], mask / mask.sum(-1, keepdim=True).clamp(min=1))
    plain = everything(model, *batch())
    torch.testing.assert_close(records[f"{site}.weights"][:, 0], plain[f"{site}.weights"][:, 0])


def test_a_temperature_divides_the_scores_of_its_head() -> None:
    model, site = randomised(small()), "decoder.layers.1.cross_attention"
    expected, width = twin(model), model.config.d_k
    attention = expected.decoder.layers[1].cross_attention
    with torch.no_grad():  # a query that is half as long has scores that are half as large
        attention.query.weight[width : 2 * width] /= 2
        attention.query.bias[width : 2 * width] /= 2
    both_ways(model, expected, Temperature("cross", 1, 1, 2.0))
    records = everything(edited(model, Temperature("cross", 1, 1, 2.0)), *batch())
    torch.testing.assert_close(records[f"{site}.weights"].sum(-1), torch.ones_like(records[f"{site}.weights"][..., 0]))


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_a_patched_vector_is_the_one_that_the_layer_gives_in_the_other_sentence(norm: str) -> None:
    """By hand: the layers up to the patch on both sentences, the vector exchanged, the rest of the layers."""
    model = randomised(small(norm=norm, encoder_layers=3))
    source, target = batch(padded=False)
    other = torch.tensor([[5, 9, 6, 3]])
    with torch.no_grad():
        found = edited(model, VectorPatched(1, 2, tuple(other[0].tolist())))
        mask, other_mask = masks.source_mask(source), masks.source_mask(other)
        x, y = (model.encoder.embedding(ids) for ids in (source, other))
        for i, layer in enumerate(model.encoder.layers):
            x, y = layer(x, mask), layer(y, other_mask)
            if i == 1:
                x[:, 2] = y[:, 2]
        memory = x if model.encoder.norm is None else model.encoder.norm(x)
        expected = model.project(model.decoder(target, memory, masks.padding_mask(source)))
        torch.testing.assert_close(found(source, target), expected, rtol=0, atol=1e-10)


@pytest.mark.parametrize(
    "edit",
    [HeadOff("cross", 9, 0), HeadOff("encoder", 0, 2), SublayerOff("encoder", 0, "cross_attention"),
     SublayerOff("decoder", 2, "feed_forward"), ResidualOff("encoder", None, "cross_attention"),
     ResidualOff("decoder", 2, "feed_forward"), Temperature("cross", 0, 0, 0.0), VectorPatched(0, 4, (5, 3)),
     Temperature("cross", 0, 0, 1e-300), Temperature("decoder", 0, 0, 1e39), Temperature("cross", 0, 0, math.nan),
     VectorPatched(0, 0, (13, 3)), VectorPatched(1, 0, (5, 3)), VectorPatched(None, 2, (5, 3))],
)  # fmt: skip
def test_an_edit_that_does_not_fit_the_model_says_why(edit: Edit) -> None:
    with pytest.raises(HeadlightError, match=r"no layer|no head|no cross_attention|temperature|Position|token"):
        edited(randomised(small()), edit)


def test_edits_of_different_heads_can_be_made_in_any_order() -> None:
    model, (source, target) = randomised(small()), batch()
    edits = (HeadOff("cross", 0, 1), HeadUniform("encoder", 0, 0), SublayerOff("decoder", 1, "self_attention"))
    found = [logits(edited(model, *each), source, target) for each in (edits, edits[::-1])]
    assert torch.equal(*found)


def test_any_edits_together_give_finite_numbers() -> None:
    """In eval mode with padding, in a pass and step by step; a row that may attend to nothing stays 0. An edit that
    does not fit gets a sentence."""
    model, draw = randomised(small(attention_window=2)), random.Random(4)
    source, target = batch()
    kinds: list[Kind] = ["cross", "encoder", "decoder"]
    made = 0
    for _ in range(400):
        head = (draw.choice(kinds), 0, draw.randrange(2))
        row, keys = draw.randrange(5), draw.sample(range(8), 3)
        among: list[Edit] = [
            HeadOff(*head), HeadUniform(*head), SublayerOff("decoder", draw.randrange(2), "cross_attention"),
            ResidualOff("decoder", draw.choice([None, 0, 1]), draw.choice(["self_attention", "cross_attention"])),
            ResidualOff("encoder", draw.choice([None, 0]), "feed_forward"), MaskOff("causal"),
            AttentionWindow(draw.randrange(3)),
            MaskOff("padding"), PositionsOff("decoder"), PositionsShifted(draw.randrange(20)),
            PositionsShuffled(draw.randrange(9)), Temperature(*head, draw.choice([1e-6, 1e-3, 1e3, 1e6])),
            VectorPatched(draw.choice([None, 0]), 1, (5, 6, 3)), MaskOff("cross"),
            MaskCell(head[0], draw.choice([None, 0, 1]), draw.choice([None, 1]), row, keys[0], draw.random() < 0.5),
            WeightsSet(*head, row, tuple((key, draw.randrange(3)) for key in keys)),
        ]  # fmt: skip
        edits = draw.sample(among, draw.randrange(1, 6))
        try:
            found = edited(model, *edits)
        except HeadlightError:
            continue
        made += 1
        assert logits(found, source, target).isfinite().all(), edits
        with torch.no_grad():
            assert cached_logits(found, source, target).isfinite().all(), edits
    assert made > 50


def test_a_window_forbids_what_is_farther_and_nothing_else_in_a_pass_and_step_by_step() -> None:
    wide, narrow = randomised(small()), randomised(small(attention_window=1))
    narrow.load_state_dict(wide.state_dict())
    source, target = batch()
    with torch.no_grad():
        torch.testing.assert_close(edited(wide, AttentionWindow(1))(source, target), narrow(source, target))
        for model in (wide, narrow):  # a window that is wider than that of the model changes nothing
            stepwise = cached_logits(edited(model, AttentionWindow(1)), source, target)
            torch.testing.assert_close(stepwise, cached_logits(narrow, source, target))
        assert torch.equal(edited(wide, AttentionWindow(99))(source, target), wide(source, target))
        assert not torch.allclose(edited(wide, AttentionWindow(0))(source, target), narrow(source, target))


def test_a_window_stays_where_the_causal_mask_is_removed_in_any_order_of_the_edits() -> None:
    model, (source, target) = randomised(small()), batch()
    edits = (AttentionWindow(1), MaskOff("causal"))
    found = [everything(edited(model, *each), source, target) for each in (edits, edits[::-1])]
    for records in found:
        mask = records["decoder.layers.0.self_attention.mask"]  # (B, H, T, T)
        near = masks.window_mask(mask.shape[-1], 1)
        assert not (mask & ~near).any()
        assert (mask.diagonal(offset=1, dim1=-2, dim2=-1)).any()  # later tokens, which the causal mask forbids
