"""A search without some heads and sub-layers: the inference copy equals the edited model, and shares the weights."""

import pickle
from typing import Any, Literal

import pytest
import torch

from tests.decoding.test_fast_transformer import assert_same_search
from tests.model.test_attention_paths import assert_close
from tests.support.edited_model import edited
from tests.support.small_model import B, batch, randomised, small
from transformer.analysis.edits import Edit, HeadOff, HeadUniform, ResidualOff, SublayerOff, Temperature, model_edits
from transformer.config import BOS, EOS, DecodingConfig
from transformer.decoding.fast.fast_transformer import FastTransformer
from transformer.decoding.fast.search_model import search_model
from transformer.decoding.search import search
from transformer.model import EditedTransformer

ALL: list[tuple[Edit, ...]] = [
    (HeadOff("encoder", 0, 1),),
    (HeadOff("decoder", 1, 0),),
    (HeadOff("cross", 1, 1),),
    (HeadOff("cross", 0, None),),
    (HeadOff("decoder", 0, 0), HeadOff("decoder", 0, 1), HeadOff("decoder", 0, 1)),
    (SublayerOff("encoder", 0, "self_attention"),),
    (SublayerOff("encoder", 0, "feed_forward"),),
    (SublayerOff("decoder", 1, "self_attention"),),
    (SublayerOff("decoder", 0, "cross_attention"),),
    (SublayerOff("decoder", 1, "feed_forward"), HeadOff("decoder", 1, 1), HeadOff("encoder", 0, 0)),
]


@pytest.mark.parametrize("norm", ["pre", "post"])
@torch.no_grad()
def test_the_inference_copy_without_parts_equals_the_edited_model(norm: Literal["pre", "post"]) -> None:
    """A batch with padding, and a sentence by itself, whose cross-attention is folded; one row each, and several."""
    model = randomised(small(norm=norm, d_model=16))
    unedited, (padded, _) = FastTransformer(model), batch()
    for edits in ALL:
        slow = edited(model, *edits)
        fast = search_model(slow, unedited)
        assert isinstance(fast, FastTransformer)
        for source in (padded, padded[1:2]):
            states = slow.start(source), fast.start(source)
            tokens = torch.full((len(source),), BOS)
            for _ in range(3):
                assert_close(fast.step(tokens, states[1]), slow.step(tokens, states[0]), f"{edits}, {len(source)}")
                rows = torch.arange(len(source)).repeat_interleave(2) * (len(tokens) // len(source))
                for state in states:
                    state.select(rows)
                tokens = torch.randint(4, 13, rows.shape)
    source, start = padded, torch.full((B,), BOS)
    assert_close(unedited.step(start, unedited.start(source)), model.step(start, model.start(source)), "unedited")


@pytest.mark.parametrize("method", ["greedy", "beam"])
def test_a_search_of_it_gives_the_same_result(method: Any) -> None:
    model = randomised(small(vocab_size=40, decoder_layers=3))
    settings = DecodingConfig(method=method, max_extra_length=8, n_best=1 if method == "greedy" else 2)
    sources = [[*torch.randint(4, 40, (length,)).tolist(), EOS] for length in (1, 5, 9, 3)]
    for edits in (ALL[0], ALL[2], ALL[-1]):
        slow = edited(model, *edits)
        found = search(search_model(slow), sources, settings)
        assert_same_search(found, search(slow, sources, settings))
        assert found != search(model, sources, settings)


def test_it_shares_the_weights_and_a_copy_of_it_lacks_the_same_parts() -> None:
    model = randomised(small(vocab_size=40), torch.float32)
    unedited = FastTransformer(model)
    fast = search_model(edited(model, *ALL[-1]), unedited)
    assert isinstance(fast, FastTransformer)
    assert fast.layers[1].hidden.weight is unedited.layers[1].hidden.weight
    assert fast.projection is unedited.projection
    settings, source = DecodingConfig(max_extra_length=5), [[5, 30, 7, EOS]]
    expected = search(fast, source, settings)
    assert_same_search(search(pickle.loads(pickle.dumps(fast)), source, settings), expected, 1e-5)
    with torch.no_grad():
        model.output.weight.add_(1)
    assert not fast.is_current()


@pytest.mark.parametrize(
    "other", [HeadUniform("cross", 1, 1), Temperature("cross", 0, 0, 2.0), ResidualOff("decoder", 0, "feed_forward")]
)
def test_other_edits_are_searched_with_the_model_itself(other: Edit) -> None:
    model = randomised(small())
    for edits in ((other,), (other, HeadOff("cross", 1, 1)), (HeadOff("encoder", 0, 1), other)):
        slow = edited(model, *edits)
        assert search_model(slow) is slow


@torch.no_grad()
def test_edits_of_an_edited_model_are_all_searched_with() -> None:
    model = randomised(small())
    first, second = model_edits([HeadOff("cross", 0, 0)], model), model_edits([HeadOff("cross", 1, 1)], model)
    once = EditedTransformer(model, first)
    twice = search_model(EditedTransformer(once, second), search_model(once))
    assert isinstance(twice, EditedTransformer)
    together = EditedTransformer(model, first | second)
    source, start = batch()[0], torch.full((B,), BOS)
    found = twice.step(start, twice.start(source))
    assert_close(found, together.step(start, together.start(source)), "both edits")
