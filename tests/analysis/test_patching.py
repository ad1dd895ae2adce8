"""Activation patching, against passes in which one vector is put in by hand; and a sentence that is patched everywhere
is the other one, for each search."""

from dataclasses import replace
from itertools import pairwise
from typing import Literal

import numpy as np
import pytest
import torch

from tests.support.small_decoding import ids, random_sources, undecided
from tests.support.small_model import cached_logits, randomised, small
from transformer.analysis.edits import VectorPatched, model_edits
from transformer.analysis.patching import Pair, effect_of_changed_positions, patch_effects
from transformer.config import BOS, EOS, DecodingConfig
from transformer.decoding.search import search
from transformer.errors import HeadlightError
from transformer.model import EditedTransformer, Transformer, masks

PAIR = Pair(((5, 6, 7, 4, EOS), (5, 9, 7, 8, EOS)), ((8, 9, 11, EOS), (8, 4, EOS)))
LAYERS = (None, 0, 1, 2)


@pytest.fixture(params=["pre", "post", "window"])
def model(request: pytest.FixtureRequest) -> Transformer:
    window = 1 if request.param == "window" else None
    norm = "post" if request.param == "window" else request.param
    return randomised(small(encoder_layers=3, norm=norm, attention_window=window))


def encoded(model: Transformer, layer: int | None, positions: list[int]) -> torch.Tensor:
    """The first sentence, with vectors of the other put in by hand: (1, S, D)."""
    x, y = (model.encoder.embedding(torch.tensor([ids])) for ids in PAIR.sources)
    mask = masks.source_mask(torch.tensor([PAIR.sources[0]]), model.encoder.window)
    for i in range(-1, len(model.encoder.layers)):
        if i >= 0:
            x, y = model.encoder.layers[i](x, mask), model.encoder.layers[i](y, mask)
        if i == (-1 if layer is None else layer):
            x[:, positions] = y[:, positions]
    return x if model.encoder.norm is None else model.encoder.norm(x)


def preference(model: Transformer, memory: torch.Tensor) -> float:
    """The log-probability of the other translation less that of the own one, all of their tokens."""
    found = []
    for target in PAIR.targets:
        states = model.decoder(torch.tensor([[BOS, *target[:-1]]]), memory, masks.padding_mask(torch.ones(1, 5)))
        rows = model.project(states)[0].log_softmax(-1)
        found.append(float(rows[range(len(target)), list(target)].sum()))
    return found[1] - found[0]


def effect(model: Transformer, layer: int | None, positions: list[int]) -> float:
    with torch.no_grad():
        own, other, now = (
            preference(model, encoded(model, layer, at)) for at in ([], [*range(5)], positions)
        )  # all positions patched at any layer: the other sentence
    return (now - own) / (other - own)


def ordered(model: Transformer) -> Pair:
    """The pair, its translations in the order in which the model prefers them."""
    with torch.no_grad():
        own, other = (preference(model, model.encoder(torch.tensor([ids]))) for ids in PAIR.sources)
    return PAIR if other > own else replace(PAIR, targets=PAIR.targets[::-1])


@pytest.mark.parametrize("layer", LAYERS)
def test_each_cell_is_a_pass_in_which_that_vector_is_put_in_by_hand(model: Transformer, layer: int | None) -> None:
    found = patch_effects(model, ordered(model), layer)
    expected = [effect(model, layer, [position]) for position in range(5)]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10)
    assert np.ptp(found) > 1e-3


@pytest.mark.parametrize("layer", LAYERS)
def test_each_cell_is_the_model_with_that_edit(model: Transformer, layer: int | None) -> None:
    pair = ordered(model)
    found = patch_effects(model, pair, layer)

    def score(of: Transformer, source: tuple[int, ...]) -> float:
        with torch.no_grad():
            rows = [of(torch.tensor([source]), torch.tensor([[BOS, *t[:-1]]]))[0].log_softmax(-1) for t in pair.targets]
        own, other = (float(row[range(len(t)), list(t)].sum()) for row, t in zip(rows, pair.targets, strict=True))
        return other - own

    start, end = (score(model, source) for source in pair.sources)
    for position in range(5):
        edits = model_edits([VectorPatched(layer, position, pair.sources[1])], model)
        now = score(EditedTransformer(model, edits), pair.sources[0])
        assert found[position] == pytest.approx((now - start) / (end - start), abs=1e-10)


def test_the_effect_of_changed_positions_is_that_of_the_other_tokens_after_the_last_layer(
    model: Transformer,
) -> None:
    assert effect_of_changed_positions(model, ordered(model)) == pytest.approx(effect(model, 2, [1, 3]), abs=1e-10)


@pytest.mark.parametrize("layer", LAYERS)
def test_patched_everywhere_a_sentence_is_the_other_one_in_a_pass_and_step_by_step(
    model: Transformer, layer: int | None
) -> None:
    edits = [VectorPatched(layer, position, PAIR.sources[1]) for position in range(5)]
    edited = EditedTransformer(model, model_edits(edits, model))
    source, other = (torch.tensor([ids]) for ids in PAIR.sources)
    target = torch.tensor([[BOS, *PAIR.targets[0]]])
    with torch.no_grad():
        torch.testing.assert_close(edited(source, target), model(other, target), rtol=0, atol=1e-10)
        stepwise = cached_logits(edited, source, target)
        torch.testing.assert_close(stepwise, cached_logits(model, other, target), rtol=0, atol=1e-10)


@pytest.mark.parametrize("method", ["greedy", "beam"])
def test_patched_everywhere_a_sentence_is_translated_as_the_other_one(method: Literal["greedy", "beam"]) -> None:
    model, settings = undecided(), DecodingConfig(method=method, beam=3)
    sources = [each for each in random_sources(40) if len(each) == 6]
    different = 0
    for source, other in pairwise(sources):
        edits = [VectorPatched(None, position, tuple(other)) for position in range(6)]
        edited = EditedTransformer(model, model_edits(edits, model))
        (found,) = search(edited, [source], settings)
        (expected,), (own,) = (search(model, [each], settings) for each in (other, source))
        assert ids(found) == ids(expected)
        different += ids(found) != ids(own)
    assert different > 1


def test_a_pair_that_cannot_be_patched_says_why() -> None:
    (one, other), targets = PAIR.sources, PAIR.targets
    with pytest.raises(HeadlightError, match="5 and 4 tokens"):
        Pair((one, other[1:]), targets)
    with pytest.raises(HeadlightError, match="same translation"):
        Pair((one, other), (targets[0], targets[0]))
    with pytest.raises(HeadlightError, match="sentences are the same"):
        Pair((one, one), targets)


@pytest.mark.parametrize("layer", [-1, 99])
def test_a_layer_that_the_encoder_does_not_have_is_refused(model: Transformer, layer: int) -> None:
    with pytest.raises(ValueError, match=f"layer {layer} of "):
        patch_effects(model, ordered(model), layer)


def test_a_model_that_prefers_neither_translation_more_says_so() -> None:
    model = randomised(small())
    good = ordered(model)
    with pytest.raises(HeadlightError, match="does not prefer"):
        patch_effects(model, replace(good, targets=good.targets[::-1]), 0)
