"""The flat step is the step: over the options of the model, and through whole searches."""

import copy
import pickle
from typing import Literal

import pytest
import torch

from tests.model.test_attention_paths import all_options, assert_close
from tests.support.small_model import B, batch, randomised, small
from transformer.config import BOS, EOS, PAD, DecodingConfig, ModelConfig
from transformer.decoding.fast.fast_model import FlatTransformer
from transformer.decoding.search import search
from transformer.decoding.search_record import Found
from transformer.kernels.packed_linear import PackedLinear

Method = Literal["greedy", "beam", "sampling"]


@pytest.mark.parametrize("config", all_options())
@torch.no_grad()
def test_flat_steps_are_steps(config: ModelConfig) -> None:
    """Few rows, and so many that attention takes its other road; reordered rows, and a sentence that leaves."""
    source, _ = batch()  # padded
    for dtype, beam in [(torch.float64, 2), (torch.float32, 2), (torch.float64, 12)]:
        model = randomised(config, dtype)
        flat = FlatTransformer(model)
        states = model.start(source), flat.start(source)
        sentences, tokens = B, torch.full((B,), BOS)
        for t in range(5):
            expected, got = model.step(tokens, states[0]), flat.step(tokens, states[1])
            assert got.dtype == dtype
            assert_close(got, expected, f"step {t}")
            width = len(tokens) // sentences
            first = torch.arange(sentences)[:, None] * width  # row of each sentence
            if t == 2:
                sentences, first = 2, first[[0, 2]]
                for state in states:
                    state.select_sentences(torch.tensor([0, 2]))
            rows = first + torch.randint(width, (sentences, beam))
            for state in states:
                state.select(rows.flatten())
            tokens = torch.randint(4, 13, (sentences * beam,))


@pytest.mark.parametrize(("pieces", "padding", "absorbed"), [(1, 0, True), (8, 0, True), (9, 0, False), (5, 2, False)])
@torch.no_grad()
def test_flat_steps_of_one_sentence_are_steps(pieces: int, padding: int, absorbed: bool) -> None:
    """Also where W^Q and W^O of cross-attention are part of its keys and values, for one row and for a beam."""
    model = randomised(small(d_model=16, heads=2, max_positions=20))  # d_k = 8
    flat = FlatTransformer(model)
    source = torch.cat([torch.randint(4, 13, (1, pieces)), torch.full((1, padding), PAD)], dim=1)
    states = model.start(source), flat.start(source)
    assert all((layer.alone is not None) == absorbed for layer in states[1].layers)
    tokens = torch.tensor([BOS])
    for _ in range(4):
        assert_close(flat.step(tokens, states[1]), model.step(tokens, states[0]), "step")
        rows = torch.randint(len(tokens), (3,))
        for state in states:
            state.select(rows)
        tokens = torch.randint(4, 13, (3,))


@torch.no_grad()
def test_padding_that_a_window_leaves_nothing_to_look_at_changes_nothing() -> None:
    model = randomised(small(attention_window=1, encoder_layers=2))
    source = torch.tensor([[4] * 19 + [EOS], [4, EOS] + [PAD] * 18])
    expected, got = model.start(source), FlatTransformer(model).start(source)
    for one, other in zip(expected.layers, got.layers, strict=True):
        for what in ("cross_key", "cross_value"):
            assert_close(getattr(other, what)[0], getattr(one, what)[0], what)
            assert_close(getattr(other, what)[1, :, :2], getattr(one, what)[1, :, :2], what)


@torch.no_grad()
def test_in_bfloat16_flat_steps_are_as_close_to_float32_as_steps_are() -> None:
    """Where the processor multiplies bfloat16, the matrices are packed for it."""
    for rows in (1, 5, 96):
        exact = randomised(small(d_model=64, d_ff=96, vocab_size=200, norm="pre"), torch.float32)
        half = copy.deepcopy(exact).bfloat16()
        flat = FlatTransformer(half)
        source = torch.randint(4, 200, (rows, 7))
        states = exact.start(source), half.start(source), flat.start(source)
        for _ in range(4):
            tokens = torch.randint(4, 200, (rows,))
            expected, rounded = exact.step(tokens, states[0]), half.step(tokens, states[1])
            got = flat.step(tokens, states[2])
            assert got.dtype == torch.bfloat16
            assert (got - expected).abs().mean() < 1.5 * (rounded - expected).abs().mean()


def assert_same_search(got: list[Found], expected: list[Found], tolerance: float = 1e-10) -> None:
    """Down to every candidate of every step."""
    for found, wanted in zip(got, expected, strict=True):
        assert found.endings == wanted.endings
        for one, other in zip(found.candidates, wanted.candidates, strict=True):
            assert [candidate.token for candidate in one] == [candidate.token for candidate in other]
            sums = torch.tensor([[candidate.sum for candidate in step] for step in (one, other)])
            torch.testing.assert_close(sums[0], sums[1], rtol=0, atol=tolerance)


@pytest.mark.parametrize("method", ["greedy", "beam", "sampling"])
def test_a_search_with_flat_steps_finds_the_same(method: Method) -> None:
    model = randomised(small(vocab_size=40, decoder_layers=3))
    settings = DecodingConfig(method=method, max_extra_length=8, n_best=1 if method == "greedy" else 2)
    sources = [[*torch.randint(4, 40, (length,)).tolist(), EOS] for length in (1, 5, 9, 3, 3, 12, 2, 7, 4)]
    assert_same_search(search(FlatTransformer(model), sources, settings), search(model, sources, settings))


@pytest.mark.parametrize("has", [True, False])
@torch.no_grad()
def test_float32_is_packed_where_torch_has_onednn(has: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not has:
        monkeypatch.setattr(torch.backends.mkldnn, "is_available", lambda: False)
    elif not torch.backends.mkldnn.is_available():
        has = False  # by itself
    model = randomised(small(), torch.float32)
    flat = FlatTransformer(model)
    assert isinstance(flat.memory, PackedLinear) == isinstance(flat.projection, PackedLinear) == has
    source, target = batch()
    states = model.start(source), flat.start(source)
    assert_close(flat.step(target[:, 0], states[1]), model.step(target[:, 0], states[0]))


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=str)
def test_the_ways_of_a_gpu_lead_to_the_same(dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is not on a CPU is not packed, and reorders its cache otherwise: tried on a CPU that does not say so."""
    model = randomised(small(vocab_size=40, decoder_layers=3), dtype)
    settings = DecodingConfig(max_extra_length=20, n_best=4)
    sources = [[*torch.randint(4, 40, (length,)).tolist(), EOS] for length in (1, 5, 9, 12)]
    expected = search(FlatTransformer(model), sources, settings)
    monkeypatch.setattr(torch.Tensor, "is_cpu", False)
    flat = FlatTransformer(model)
    assert not isinstance(flat.projection, PackedLinear)
    assert_same_search(search(flat, sources, settings), expected, 1e-10 if dtype == torch.float64 else 1e-4)


def test_a_search_computes_as_the_weights_are_stored_whatever_autocast_says() -> None:
    flat, source = FlatTransformer(randomised(small(vocab_size=40), torch.float32)), [[5, 30, 7, EOS]]
    expected = search(flat, source, DecodingConfig(max_extra_length=5))
    with torch.autocast("cpu", torch.bfloat16):
        assert_same_search(search(flat, source, DecodingConfig(max_extra_length=5)), expected)


def test_it_is_copied_and_pickled_like_any_model() -> None:
    flat, source = FlatTransformer(randomised(small(vocab_size=40), torch.float32)), [[5, 30, 7, EOS]]
    expected = search(flat, source, DecodingConfig(max_extra_length=5))
    for twin in (copy.deepcopy(flat), pickle.loads(pickle.dumps(flat))):
        assert twin.model is not flat.model
        assert_same_search(search(twin, source, DecodingConfig(max_extra_length=5)), expected)


def test_it_holds_copies_and_leaves_the_model_as_it_is() -> None:
    model = randomised(small())
    before = {name: weight.clone() for name, weight in model.state_dict().items()}
    flat = FlatTransformer(model)
    for held in (flat.layers[0].hidden.weight, flat.projection.weight, flat.layers[1].norms[2].bias):
        held.zero_()
    assert flat.is_current()
    assert all(torch.equal(weight, before[name]) for name, weight in model.state_dict().items())


def test_a_model_in_training_mode_is_refused() -> None:
    with pytest.raises(ValueError, match="training mode"):
        search(FlatTransformer(randomised(small()).train()), [[4, EOS]], DecodingConfig())


@torch.inference_mode()
def test_weights_made_in_inference_mode_are_copied_anew_each_time() -> None:
    """torch does not count what is written to them."""
    flat = FlatTransformer(randomised(small()))
    assert flat.model.output.weight.is_inference()
    assert not flat.is_current()


@torch.no_grad()
def test_it_knows_when_a_weight_was_written_or_moved() -> None:
    model = randomised(small())
    for change in (lambda: model.decoder.layers[1].cross_attention.output.bias.zero_(), model.float):
        flat = FlatTransformer(model)
        assert flat.is_current()
        change()
        assert not flat.is_current()
