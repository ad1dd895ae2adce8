"""Edits against models that others wrote or that are made without the part, in a pass and in whole searches; and that
they commute."""

import random
from collections.abc import Callable
from dataclasses import replace
from itertools import permutations
from math import isfinite
from typing import Literal

import pytest
import torch
from torch import Tensor, nn

from tests.support.edited_model import edited
from tests.support.small_decoding import random_sources, undecided
from tests.support.small_model import batch, cached_logits, randomised, small
from transformer.analysis.edits import (
    AttentionWindow,
    Edit,
    HeadOff,
    HeadUniform,
    MaskCell,
    MaskOff,
    PositionsOff,
    PositionsShuffled,
    PositionsSwapped,
    ResidualOff,
    SublayerOff,
    Temperature,
    WeightsSet,
)
from transformer.config import PAD, DecodingConfig
from transformer.decoding.search import search
from transformer.errors import HeadlightError
from transformer.export.torch_model import TorchModel
from transformer.model import Transformer

Method = Literal["greedy", "beam"]


@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize("part", ["causal", "padding", "cross"])
def test_a_mask_that_is_off_is_a_mask_that_torch_nn_transformer_is_not_given(
    part: Literal["causal", "padding", "cross"], norm: Literal["pre", "post"]
) -> None:
    model, (source, target) = randomised(small(norm=norm)), batch()
    twin = TorchModel(model)
    read, written = twin._embedded(source, twin.source_tokens, 0), twin._embedded(target, twin.target_tokens, 1)
    later = torch.ones(2 * target.shape[1:], dtype=torch.bool).triu(1)  # True = must not attend
    with torch.no_grad():
        states = twin.stacks(
            read,
            written,
            tgt_mask=None if part == "causal" else later,
            src_key_padding_mask=None if part == "padding" else source == PAD,
            tgt_key_padding_mask=target == PAD,
            memory_key_padding_mask=source == PAD if part == "causal" else None,
        )
        found = edited(model, MaskOff(part))(source, target)
        real = target != PAD
        expected = states @ twin.output.T
        torch.testing.assert_close(found[real], expected[real], rtol=0, atol=1e-10)
        assert not torch.allclose(found[real], model(source, target)[real])


class NoPositions(nn.Module):
    """A table of zeros."""

    def forward(self, length: int, start: int = 0) -> Tensor:
        return torch.zeros(length, 1, dtype=torch.float64)


def zero(weight: Tensor, *, head: int | None = None, width: int = 0) -> None:
    with torch.no_grad():
        weight[..., slice(None) if head is None else slice(head * width, (head + 1) * width)] = 0.0


def without_head(model: Transformer) -> None:
    zero(model.decoder.layers[1].cross_attention.output.weight, head=2, width=model.config.d_k)  # W^O, transposed


def without_query(model: Transformer) -> None:
    """All scores of a head are 0."""
    own, width = model.decoder.layers[0].cross_attention, model.config.d_k
    with torch.no_grad():
        own.query.weight[width : 2 * width] = 0.0
        own.query.bias[width : 2 * width] = 0.0


def without_feed_forward(model: Transformer) -> None:
    output = model.decoder.layers[1].feed_forward.output
    zero(output.weight)
    zero(output.bias)


def without_positions(model: Transformer) -> None:
    model.encoder.embedding.positions = NoPositions()  # type: ignore[assignment]


def with_window(model: Transformer) -> None:
    model.config = replace(model.config, attention_window=1)  # for the steps of a search
    model.encoder.window = model.decoder.window = 1


@pytest.mark.parametrize("method", ["greedy", "beam"])
@pytest.mark.parametrize(
    ("edit", "change"),
    [
        (HeadOff("cross", 1, 2), without_head),
        (HeadUniform("cross", 0, 1), without_query),
        (SublayerOff("decoder", 1, "feed_forward"), without_feed_forward),
        (PositionsOff(), without_positions),
        (AttentionWindow(1), with_window),
    ],
)
def test_a_search_with_an_edit_finds_what_the_model_without_the_part_finds(
    edit: Edit, change: Callable[[Transformer], None], method: Method
) -> None:
    model, sources, settings = undecided(), random_sources(6), DecodingConfig(method=method, beam=3)
    oracle = Transformer(model.config).double().eval()
    oracle.load_state_dict(model.state_dict())
    change(oracle)
    found, expected, before = (
        [one.path(one.endings[0]) for one in search(each, sources, settings)]
        for each in (edited(model, edit), oracle, model)
    )
    for path, wanted in zip(found, expected, strict=True):
        assert [each.token_id for each in path] == [each.token_id for each in wanted]
        assert [each.sum for each in path] == pytest.approx([each.sum for each in wanted], abs=1e-10)
    assert found != before


def test_edits_of_different_parts_are_the_same_in_every_order() -> None:
    model, (source, target) = randomised(small(encoder_layers=2)), batch()
    edits: list[Edit] = [
        HeadOff("cross", 0, 1),
        Temperature("encoder", 1, 0, 3.0),
        ResidualOff("decoder", 0, "self_attention"),
        MaskCell("decoder", 1, None, 2, 0, False),
        PositionsSwapped(0, 3),
    ]
    with torch.no_grad():
        whole, stepwise = model(source, target), cached_logits(model, source, target)
        first: list[Tensor] | None = None
        for order in random.Random(1).sample(list(permutations(edits)), 20):
            changed = edited(model, *order)
            found = [changed(source, target), cached_logits(changed, source, target)]
            first = first or found
            assert all(map(torch.equal, found, first)), order
    assert first
    assert not torch.allclose(first[0], whole)
    assert not torch.allclose(first[1], stepwise)


def test_any_edits_together_are_translated_greedily_and_by_beam_search() -> None:
    """Or an edit that does not fit gets a message."""
    model, draw, sources = undecided(), random.Random(6), random_sources(3)
    kinds: tuple[Literal["cross", "encoder", "decoder"], ...] = ("cross", "encoder", "decoder")
    refused = 0
    for _ in range(40):
        kind, layer, head, row = draw.choice(kinds), draw.randrange(2), draw.randrange(4), draw.randrange(5)
        among: list[Edit] = [
            HeadOff(kind, layer, head), HeadUniform(kind, layer, head), Temperature(kind, layer, head, 1e3),
            SublayerOff("decoder", layer, "cross_attention"), ResidualOff("decoder", None, "feed_forward"),
            MaskOff("causal"), MaskOff("padding"), MaskOff("cross"), PositionsOff("decoder"), AttentionWindow(1),
            PositionsShuffled(draw.randrange(9)),
            MaskCell(kind, None, None, row, draw.randrange(5), draw.random() < 0.5),
            WeightsSet(kind, layer, head, row, ((draw.randrange(5), 1),)),
        ]  # fmt: skip
        try:
            changed = edited(model, *draw.sample(among, draw.randrange(1, 6)))
        except HeadlightError:
            refused += 1
            continue
        for method in ("greedy", "beam"):
            for found in search(changed, sources, DecodingConfig(method=method, beam=3, max_extra_length=2)):
                assert all(isfinite(each.sum) for ending in found.endings for each in found.path(ending))
    assert refused < 30
