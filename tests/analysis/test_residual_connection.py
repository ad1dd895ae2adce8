"""Without a residual connection, against models whose layers are made without it."""

from collections.abc import Callable
from typing import Any, Literal, cast

import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import layer_norm, relu

from tests.support.edited_model import edited
from tests.support.small_decoding import random_sources, undecided
from tests.support.small_model import batch, cached_logits, randomised, small
from transformer.analysis.edits import Edit, ResidualOff, SublayerOff
from transformer.analysis.edits.checks import Stack, Sublayer
from transformer.config import DecodingConfig
from transformer.decoding.search import search
from transformer.model import Transformer, masks
from transformer.model.layers import Residual
from transformer.model.probe import NULL_PROBE, BaseProbe

EACH: list[tuple[Stack, int | None, Sublayer]] = [
    ("encoder", 0, "self_attention"),
    ("encoder", 1, "feed_forward"),
    ("encoder", None, "feed_forward"),
    ("decoder", 1, "self_attention"),
    ("decoder", 0, "cross_attention"),
    ("decoder", 2, "feed_forward"),
    ("decoder", None, "cross_attention"),
]


class NoConnection(nn.Module):
    """What `Residual` would be without the x that is added: LayerNorm(Sublayer(x)), or Sublayer(LayerNorm(x))."""

    def __init__(self, like: Residual):
        super().__init__()
        self.norm, self.pre_norm = like.norm, like.pre_norm

    def forward(self, x: Tensor, sublayer: Callable[[Tensor], Tensor], probe: BaseProbe = NULL_PROBE) -> Tensor:
        return sublayer(self.norm(x)) if self.pre_norm else cast(Tensor, self.norm(sublayer(x)))


def built_without(model: Transformer, stack: Stack, layer: int | None, sublayer: Sublayer) -> Transformer:
    """A model with the same weights, whose layers have no such connection."""
    found = Transformer(model.config).double().eval()
    found.load_state_dict(model.state_dict())
    layers: Any = getattr(found, stack).layers
    for number, each in enumerate(layers):
        if layer in (None, number):
            setattr(each, f"{sublayer}_residual", NoConnection(getattr(each, f"{sublayer}_residual")))
    return found


@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize("where", EACH)
def test_a_model_without_the_connection_is_one_whose_layers_are_made_without_it(
    where: tuple[Stack, int | None, Sublayer], norm: str
) -> None:
    """In a pass, in steps with the cache, and of several hypotheses of one sentence."""
    model = randomised(small(encoder_layers=2, decoder_layers=3, norm=norm))
    source, target = batch()
    found, expected = edited(model, ResidualOff(*where)), built_without(model, *where)
    with torch.no_grad():
        before = model(source, target)
        whole = found(source, target)
        torch.testing.assert_close(whole, expected(source, target), rtol=0, atol=1e-10)
        assert not torch.allclose(whole, before)
        for sources, targets in ((source, batch(padded=False)[1]), (source[:1], batch(padded=False)[1])):
            stepwise = cached_logits(found, sources, targets)
            torch.testing.assert_close(stepwise, cached_logits(expected, sources, targets), rtol=0, atol=1e-10)
            together = found(sources.expand(len(targets), -1), targets)
            torch.testing.assert_close(stepwise, together, rtol=0, atol=1e-10)
        assert torch.equal(model(source, target), before)  # the model whose weights it shares


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_the_output_of_the_feed_forward_network_alone_goes_on(norm: str) -> None:
    """By hand, from the weights: equations 1 and 2 of the paper, and LayerNorm, in the one layer of the encoder."""
    model = randomised(small(norm=norm))
    source, target = batch(padded=False)
    (layer,) = model.encoder.layers

    def normed(x: Tensor, by: nn.LayerNorm) -> Tensor:
        return layer_norm(x, x.shape[-1:], by.weight, by.bias, by.eps)

    def feed_forward(x: Tensor) -> Tensor:
        hidden, output = layer.feed_forward.hidden, layer.feed_forward.output
        return relu(x @ hidden.weight.T + hidden.bias) @ output.weight.T + output.bias

    with torch.no_grad():
        x, mask = model.encoder.embedding(source), masks.source_mask(source)
        first, second = layer.self_attention_residual.norm, layer.feed_forward_residual.norm
        if norm == "pre":
            read = normed(x, first)
            x = x + layer.self_attention(read, read, mask)
            assert model.encoder.norm is not None
            memory = normed(feed_forward(normed(x, second)), model.encoder.norm)
        else:
            x = normed(x + layer.self_attention(x, x, mask), first)
            memory = normed(feed_forward(x), second)
        expected = model.project(model.decoder(target, memory, masks.padding_mask(source)))
        found = edited(model, ResidualOff("encoder", 0, "feed_forward"))(source, target)
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-10)


@pytest.mark.parametrize("method", ["greedy", "beam"])
def test_a_search_finds_what_the_model_made_without_it_finds(method: Literal["greedy", "beam"]) -> None:
    model, sources, settings = undecided(), random_sources(6), DecodingConfig(method=method, beam=3)
    where: tuple[Stack, int, Sublayer] = ("decoder", 1, "self_attention")
    found, expected, before = (
        [one.path(one.endings[0]) for one in search(each, sources, settings)]
        for each in (edited(model, ResidualOff(*where)), built_without(model, *where), model)
    )
    for path, wanted in zip(found, expected, strict=True):
        assert [each.token_id for each in path] == [each.token_id for each in wanted]
        sums = [each.sum for each in path]
        assert sums == pytest.approx([each.sum for each in wanted], abs=1e-10)
    assert found != before


def test_all_layers_are_each_of_them_and_edits_of_different_sublayers_commute() -> None:
    model, (source, target) = randomised(small(encoder_layers=3)), batch()
    each: list[Edit] = [ResidualOff("encoder", layer, "feed_forward") for layer in range(3)]
    others: list[Edit] = [ResidualOff("encoder", None, "feed_forward"), SublayerOff("decoder", 1, "feed_forward")]
    with torch.no_grad():
        one = edited(model, *others)(source, target)
        assert torch.equal(edited(model, *each, others[1])(source, target), one)
        assert torch.equal(edited(model, *others[::-1])(source, target), one)


def test_without_sublayer_and_connection_nothing_goes_on() -> None:
    """A stream of zeros: finite numbers, LayerNorm included."""
    model, (source, target) = randomised(small(norm="pre")), batch()
    nothing = edited(model, ResidualOff("decoder", None, "feed_forward"), SublayerOff("decoder", 1, "feed_forward"))
    with torch.no_grad():
        found = nothing(source, target)
    bias = model.decoder.norm.bias if model.decoder.norm is not None else torch.zeros(0)
    torch.testing.assert_close(found, model.project(bias).expand_as(found), rtol=0, atol=1e-10)
