"""The fast model equals the model: over all options, and in whole searches."""

import copy
import pickle
from typing import Literal

import pytest
import torch

from tests.model.test_attention_paths import all_options, assert_close
from tests.support.small_model import B, batch, randomised, small
from transformer.config import BOS, EOS, PAD, DecodingConfig, ModelConfig
from transformer.decoding.fast.fast_transformer import FastTransformer
from transformer.decoding.search import search
from transformer.decoding.search_record import SearchRecord
from transformer.kernels.packed_linear import PackedLinear

Method = Literal["greedy", "beam", "sampling"]


@pytest.mark.parametrize("config", all_options())
@torch.no_grad()
def test_fast_steps_equal_reference_steps(config: ModelConfig) -> None:
    """Few rows and many (attention has a path for each), reordered rows, and a sentence that leaves the batch."""
    source, _ = batch()  # padded
    for dtype, beam in [(torch.float64, 2), (torch.float32, 2), (torch.float64, 12)]:
        model = randomised(config, dtype)
        fast = FastTransformer(model)
        states = model.start(source), fast.start(source)
        sentences, tokens = B, torch.full((B,), BOS)
        for t in range(5):
            expected, got = model.step(tokens, states[0]), fast.step(tokens, states[1])
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


@pytest.mark.parametrize(("length", "padding", "folded"), [(1, 0, True), (8, 0, True), (9, 0, False), (5, 2, False)])
@torch.no_grad()
def test_fast_steps_of_one_sentence_equal_reference_steps(length: int, padding: int, folded: bool) -> None:
    """Also where W^Q and W^O of cross-attention are part of its keys and values, for one row and for a beam."""
    model = randomised(small(d_model=16, heads=2, max_positions=20))  # d_k = 8
    fast = FastTransformer(model)
    source = torch.cat([torch.randint(4, 13, (1, length)), torch.full((1, padding), PAD)], dim=1)
    states = model.start(source), fast.start(source)
    assert all((layer.folded is not None) == folded for layer in states[1].layers)
    tokens = torch.tensor([BOS])
    for _ in range(4):
        assert_close(fast.step(tokens, states[1]), model.step(tokens, states[0]), "step")
        rows = torch.randint(len(tokens), (3,))
        for state in states:
            state.select(rows)
        tokens = torch.randint(4, 13, (3,))


@torch.no_grad()
def test_padding_that_a_window_masks_fully_changes_nothing() -> None:
    model = randomised(small(attention_window=1, encoder_layers=2))
    source = torch.tensor([[4] * 19 + [EOS], [4, EOS] + [PAD] * 18])
    expected, got = model.start(source), FastTransformer(model).start(source)
    for one, other in zip(expected.layers, got.layers, strict=True):
        for what in ("cross_key", "cross_value"):
            assert_close(getattr(other, what)[0], getattr(one, what)[0], what)
            assert_close(getattr(other, what)[1, :, :2], getattr(one, what)[1, :, :2], what)


@torch.no_grad()
def test_in_bfloat16_fast_steps_are_as_close_to_float32_as_reference_steps() -> None:
    """Where the processor multiplies bfloat16, the matrices are packed for it."""
    for rows in (1, 5, 96):
        exact = randomised(small(d_model=64, d_ff=96, vocab_size=200, norm="pre"), torch.float32)
        half = copy.deepcopy(exact).bfloat16()
        fast = FastTransformer(half)
        source = torch.randint(4, 200, (rows, 7))
        states = exact.start(source), half.start(source), fast.start(source)
        for _ in range(4):
            tokens = torch.randint(4, 200, (rows,))
            expected, rounded = exact.step(tokens, states[0]), half.step(tokens, states[1])
            got = fast.step(tokens, states[2])
            assert got.dtype == torch.bfloat16
            assert (got - expected).abs().mean() < 1.5 * (rounded - expected).abs().mean()


def assert_same_search(got: list[SearchRecord], expected: list[SearchRecord], tolerance: float = 1e-10) -> None:
    """Down to every candidate of every step."""
    for found, wanted in zip(got, expected, strict=True):
        assert found.endings == wanted.endings
        for one, other in zip(found.candidates, wanted.candidates, strict=True):
            assert [candidate.token_id for candidate in one] == [candidate.token_id for candidate in other]
            sums = torch.tensor([[candidate.sum for candidate in step] for step in (one, other)])
            torch.testing.assert_close(sums[0], sums[1], rtol=0, atol=tolerance)


@pytest.mark.parametrize("method", ["greedy", "beam", "sampling"])
def test_a_search_with_fast_steps_gives_the_same_result(method: Method) -> None:
    model = randomised(small(vocab_size=40, decoder_layers=3))
    settings = DecodingConfig(method=method, max_extra_length=8, n_best=1 if method == "greedy" else 2)
    sources = [[*torch.randint(4, 40, (length,)).tolist(), EOS] for length in (1, 5, 9, 3, 3, 12, 2, 7, 4)]
    assert_same_search(search(FastTransformer(model), sources, settings), search(model, sources, settings))


@pytest.mark.parametrize("has", [True, False])
@torch.no_grad()
def test_float32_is_packed_where_torch_has_onednn(has: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not has:
        monkeypatch.setattr(torch.backends.mkldnn, "is_available", lambda: False)
    elif not torch.backends.mkldnn.is_available():
        has = False  # by itself
    model = randomised(small(), torch.float32)
    fast = FastTransformer(model)
    assert isinstance(fast.cross_keys_values, PackedLinear) == isinstance(fast.projection, PackedLinear) == has
    source, target = batch()
    states = model.start(source), fast.start(source)
    assert_close(fast.step(target[:, 0], states[1]), model.step(target[:, 0], states[0]))


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=str)
def test_the_result_is_the_same_on_other_devices(dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch) -> None:
    """Weights on another device are not packed: tried on a CPU that does not say that it is one."""
    model = randomised(small(vocab_size=40, decoder_layers=3), dtype)
    settings = DecodingConfig(max_extra_length=20, n_best=4)
    sources = [[*torch.randint(4, 40, (length,)).tolist(), EOS] for length in (1, 5, 9, 12)]
    expected = search(FastTransformer(model), sources, settings)
    monkeypatch.setattr(torch.Tensor, "is_cpu", False)
    fast = FastTransformer(model)
    assert not isinstance(fast.projection, PackedLinear)
    assert_same_search(search(fast, sources, settings), expected, 1e-10 if dtype == torch.float64 else 1e-4)


def test_a_search_computes_in_the_dtype_of_the_weights_under_autocast() -> None:
    fast, source = FastTransformer(randomised(small(vocab_size=40), torch.float32)), [[5, 30, 7, EOS]]
    expected = search(fast, source, DecodingConfig(max_extra_length=5))
    with torch.autocast("cpu", torch.bfloat16):
        assert_same_search(search(fast, source, DecodingConfig(max_extra_length=5)), expected)


def test_the_inference_copy_can_be_copied_and_pickled() -> None:
    fast, source = FastTransformer(randomised(small(vocab_size=40), torch.float32)), [[5, 30, 7, EOS]]
    expected = search(fast, source, DecodingConfig(max_extra_length=5))
    for twin in (copy.deepcopy(fast), pickle.loads(pickle.dumps(fast))):
        assert twin.model is not fast.model
        assert_same_search(search(twin, source, DecodingConfig(max_extra_length=5)), expected)


def test_the_inference_copy_has_copies_of_the_weights_and_does_not_change_the_model() -> None:
    model = randomised(small())
    before = {name: weight.clone() for name, weight in model.state_dict().items()}
    fast = FastTransformer(model)
    for held in (fast.layers[0].hidden.weight, fast.projection.weight, fast.layers[1].norms[2].bias):
        held.zero_()
    assert fast.is_current()
    assert all(torch.equal(weight, before[name]) for name, weight in model.state_dict().items())


def test_a_model_in_training_mode_is_refused() -> None:
    with pytest.raises(ValueError, match="training mode"):
        search(FastTransformer(randomised(small()).train()), [[4, EOS]], DecodingConfig())


@torch.inference_mode()
def test_weights_made_in_inference_mode_are_copied_each_time() -> None:
    """torch does not count what is written to them."""
    fast = FastTransformer(randomised(small()))
    assert fast.model.output.weight.is_inference()
    assert not fast.is_current()


@torch.no_grad()
def test_is_current_notices_a_weight_that_was_written_or_moved() -> None:
    model = randomised(small())
    for change in (lambda: model.decoder.layers[1].cross_attention.output.bias.zero_(), model.float):
        fast = FastTransformer(model)
        assert fast.is_current()
        change()
        assert not fast.is_current()


@torch.no_grad()
def test_is_current_notices_a_weight_that_was_replaced() -> None:
    model = randomised(small())
    fast = FastTransformer(model)
    model.load_state_dict({name: weight * 2 for name, weight in model.state_dict().items()}, assign=True)
    assert not fast.is_current()
