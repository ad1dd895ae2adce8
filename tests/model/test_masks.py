"""Which query may attend to which key: polarity, the future, padding, windows, and fully masked queries."""

import math

import pytest
import torch
from torch import Tensor

from tests.support.small_model import B, S, T, batch, cached_logits, everything, probe_of, randomised, small
from transformer.config import PAD
from transformer.kernels.fast_attention import FEW_KEYS
from transformer.model import NULL_PROBE, BaseProbe, Probe, masks
from transformer.model.attention import attend

ATTEND_SITES = ["products", "scores", "mask", "masked_scores", "weights"]


def probes() -> list[BaseProbe]:
    """None, and one: attention takes another path for each."""
    return [NULL_PROBE, Probe(ATTEND_SITES, ["weights"])]


def test_true_means_may_attend() -> None:
    """Two keys, one of them allowed: what comes out is that one's value, by hand."""
    query, key = torch.zeros(1, 1, 1, 2), torch.zeros(1, 1, 2, 2)
    value = torch.tensor([[[[1.0, 2.0], [3.0, 4.0]]]])
    for probe in probes():
        for allowed, expected in [([True, False], [1, 2]), ([False, True], [3, 4]), ([True, True], [2, 3])]:
            mask = torch.tensor(allowed)[None, None, None]
            assert attend(query, key, value, mask, probe).flatten().tolist() == expected


def test_masks_have_the_shapes_and_values_written_out_here() -> None:
    ids = torch.tensor([[5, 6, 7, PAD], [5, PAD, PAD, PAD]])
    assert masks.padding_mask(ids).shape == (2, 1, 1, 4)
    assert masks.padding_mask(ids)[:, 0, 0].tolist() == [[True, True, True, False], [True, False, False, False]]
    assert masks.causal_mask(3)[0, 0].int().tolist() == [[1, 0, 0], [1, 1, 0], [1, 1, 1]]
    assert masks.window_mask(4, 1)[0, 0].int().tolist() == [[1, 1, 0, 0], [1, 1, 1, 0], [0, 1, 1, 1], [0, 0, 1, 1]]
    assert masks.target_mask(ids).shape == (2, 1, 4, 4)
    assert masks.target_mask(ids)[0, 0].int().tolist() == [[1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0], [1, 1, 1, 0]]
    assert masks.target_mask(ids, 1)[0, 0].int().tolist() == [[1, 0, 0, 0], [1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 0]]
    assert masks.target_mask(ids, causal=False)[:, 0].int().tolist() == [[[1, 1, 1, 0]], [[1, 0, 0, 0]]]
    assert masks.target_mask(ids, 1, causal=False)[0, 0, 1].int().tolist() == [1, 1, 1, 0]
    assert masks.source_mask(ids, 1)[1, 0].int().tolist() == [[1, 0, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]


@pytest.mark.parametrize("window", [None, 0, 1, 2, 9])
def test_the_mask_of_a_step_is_the_last_row_of_the_whole_mask(window: int | None) -> None:
    for length in range(1, 7):
        whole = masks.target_mask(torch.full((1, length), 5), window)[..., -1:, :]
        step = masks.step_mask(length, window, torch.device("cpu"))
        assert torch.equal(torch.ones_like(whole) if step is None else step, whole)


@pytest.mark.parametrize("norm", ["post", "pre"])
@torch.no_grad()
def test_no_output_depends_on_later_target_tokens(norm: str) -> None:
    """Bit for bit, through all layers, on all paths; and each output does depend on its own token."""
    model = randomised(small(norm=norm), torch.float32)
    source, target = batch(padded=False)
    for t in range(T):
        changed = target.clone()
        changed[:, t] = (target[:, t] - 4 + 1) % 9 + 4  # another token
        for run in (model, lambda s, y: everything(model, s, y)["logits"], lambda s, y: cached_logits(model, s, y)):
            before, after = run(source, target), run(source, changed)
            assert torch.equal(before[:, :t], after[:, :t])
            assert (before[:, t:] != after[:, t:]).any(dim=-1).all()


@torch.no_grad()
def test_a_model_trained_without_the_causal_mask_attends_to_later_tokens_in_training_only() -> None:
    """Validation, traces and every step of decoding are those of the model with the mask."""
    still = {"dropout": 0.0, "embedding_dropout": 0.0}  # so that in training only the mask differs
    lesson, usual = (randomised(small(causal_training=causal, **still)) for causal in (False, True))
    source, target = batch(padded=False)
    changed = target.clone()
    changed[:, -1] = (target[:, -1] - 4 + 1) % 9 + 4
    assert torch.equal(lesson(source, target), usual(source, target))
    assert torch.equal(cached_logits(lesson, source, target), cached_logits(usual, source, target))
    for model, sees in ((lesson.train(), True), (usual.train(), False)):
        moved = (model(source, changed) != model(source, target)).any(dim=-1)  # (B, T)
        assert moved[:, 0].tolist() == [sees] * len(target)


@pytest.mark.parametrize("window", [1, 2])
@torch.no_grad()
def test_one_layer_with_a_window_attends_exactly_that_far(window: int) -> None:
    model = randomised(small(attention_window=window))
    source, target = batch(padded=False)
    for k in range(S):
        changed = source.clone()
        changed[:, k] = (source[:, k] - 4 + 1) % 9 + 4
        moved = (model.encoder(changed) != model.encoder(source)).any(dim=-1)  # (B, S), 1 layer
        expected = [abs(q - k) <= window for q in range(S)]
        assert all(row == expected for row in moved.tolist())
    weights = everything(model, source, target)["decoder.layers.0.self_attention.weights"]
    for q in range(T):
        for k in range(T):
            assert bool((weights[..., q, k] > 0).all()) == (q - window <= k <= q)


@pytest.mark.parametrize("norm", ["post", "pre"])
@pytest.mark.parametrize("window", [None, 1])
@torch.no_grad()
def test_a_sentence_alone_equals_itself_in_a_padded_batch(norm: str, window: int | None) -> None:
    for dtype, atol in [(torch.float64, 1e-12), (torch.float32, 1e-5)]:
        model = randomised(small(norm=norm, attention_window=window), dtype)
        source, target = batch()
        for probed in (False, True):
            together = everything(model, source, target)["logits"] if probed else model(source, target)
            for b in range(B):
                s, t = source[b][source[b] != PAD], target[b][target[b] != PAD]
                alone = model(s[None], t[None])[0]
                torch.testing.assert_close(together[b, : len(t)], alone, rtol=0, atol=atol)


@torch.no_grad()
def test_nothing_written_into_source_padding_changes_the_output() -> None:
    """The padding of the *source*, in encoder self-attention and in encoder-decoder attention, on all paths."""
    model = randomised(small())
    source, target = batch()
    pad = source == PAD

    def noise(x: Tensor) -> Tensor:
        return torch.where(pad[..., None], torch.randn_like(x) * 100, x)

    def run(**edits: object) -> Tensor:
        probe = probe_of(model, "logits", **edits)
        model(source, target, probe)
        return probe.records["logits"]

    torch.testing.assert_close(run(encoder__embedding__output=noise), run(), rtol=0, atol=1e-12)
    cross_output = run(encoder__layers__0__feed_forward__norm_out=noise)  # what cross-attention attends to
    torch.testing.assert_close(cross_output, run(), rtol=0, atol=1e-12)
    expected = model(source, target)
    model.encoder.embedding.tokens.weight[PAD] += 100.0
    changed = [model(source, target), cached_logits(model, source, target)]
    for logits in changed:
        real = target != PAD
        torch.testing.assert_close(logits[real][:, 1:], expected[real][:, 1:], rtol=0, atol=1e-10)


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16, torch.float16], ids=str)
@torch.no_grad()
def test_masked_scores_are_minus_infinity_where_masked_and_the_scores_elsewhere(dtype: torch.dtype) -> None:
    records = everything(randomised(small(attention_window=1), dtype), *batch())
    count = 0
    for name, mask in records.items():
        if name.endswith(".mask"):
            masked, scores = records[name + "ed_scores"], records[name.removesuffix("mask") + "scores"]
            assert torch.equal(masked[mask], scores[mask])
            assert masked[~mask].eq(-math.inf).all()
            assert records[name.removesuffix("mask") + "weights"][~mask].eq(0).all()
            count += int((~mask).sum() > 0)
    assert count == 5


def blind_attention(probe: BaseProbe, keys: int = 5, nan: bool = False) -> tuple[Tensor, list[Tensor]]:
    """Row 1 of 3 is fully masked. Returns the output and the gradients of query, key and value."""
    torch.manual_seed(0)
    query = torch.randn(1, 2, 3, 4, dtype=torch.float64)
    key, value = (torch.randn(1, 2, keys, 4, dtype=torch.float64) for _ in range(2))
    if nan:
        query[:, :, 0, 0] = math.nan
    inputs = [query.requires_grad_(), key.requires_grad_(), value.requires_grad_()]
    mask = torch.ones(1, 1, 3, keys, dtype=torch.bool)
    mask[..., 1, :] = False
    mask[..., 2, 3:] = False
    output = attend(query, key, value, mask, probe)
    return output, list(torch.autograd.grad(output.square().sum(), inputs))


@pytest.mark.parametrize("keys", [5, FEW_KEYS + 1])
def test_a_fully_masked_query_gets_zeros_and_finite_gradients(keys: int) -> None:
    (fast, fast_gradients), (explicit, gradients) = (blind_attention(probe, keys) for probe in probes())
    assert fast[:, :, 1].eq(0).all()
    assert explicit[:, :, 1].eq(0).all()
    torch.testing.assert_close(explicit, fast, rtol=0, atol=1e-12)
    for ours, expected in zip(gradients, fast_gradients, strict=True):
        assert ours.isfinite().all()
        torch.testing.assert_close(ours, expected, rtol=0, atol=1e-12)
    assert gradients[0][:, :, 1].eq(0).all()


@pytest.mark.parametrize("keys", [5, FEW_KEYS + 1])
def test_a_real_nan_is_not_hidden_by_the_handling_of_fully_masked_queries(keys: int) -> None:
    for probe in probes():
        output, _ = blind_attention(probe, keys, nan=True)
        assert output[:, :, 0].isnan().all()
        assert output[:, :, 1].eq(0).all()


@pytest.mark.parametrize("norm", ["post", "pre"])
def test_a_source_of_nothing_but_padding_stays_finite_forward_and_backward(norm: str) -> None:
    model = randomised(small(norm=norm))
    source, target = batch()
    source[1] = PAD
    gradients = []
    for probe in (NULL_PROBE, probe_of(model, "*")):
        model.zero_grad()
        logits = model(source, target, probe)
        logits.logsumexp(-1).sum().backward()
        assert logits.isfinite().all()
        gradients.append([p.grad for p in model.parameters() if p.grad is not None])
    for fast, explicit in zip(*gradients, strict=True):
        assert fast.isfinite().all()
        torch.testing.assert_close(explicit, fast, rtol=0, atol=1e-10)
    for name, record in everything(model, source, target).items():
        if name.endswith("cross_attention.weights"):
            assert record[1].eq(0).all()
            assert record[0].sum(dim=-1).allclose(torch.ones((), dtype=torch.float64))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
@pytest.mark.parametrize("norm", ["post", "pre"])
@torch.no_grad()
def test_half_precision_attention_over_a_padded_batch_is_finite(dtype: torch.dtype, norm: str) -> None:
    model = randomised(small(norm=norm, attention_window=1), torch.float32)
    source, target = batch()
    expected = model(source, target)
    model.to(dtype)
    explicit = everything(model, source, target)
    for logits in (model(source, target), explicit["logits"], cached_logits(model, source, target)):
        assert logits.dtype == dtype
        assert logits.isfinite().all()
        torch.testing.assert_close(logits[target != PAD].float(), expected[target != PAD], rtol=0.1, atol=0.3)
    for name, record in explicit.items():
        assert not record.isnan().any(), name
        assert record.isfinite().all() or name.endswith("masked_scores"), name


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
def test_scores_near_the_limit_of_half_precision_stay_finite(dtype: torch.dtype) -> None:
    """A mask added as a large negative number overflows here."""
    query = torch.full((1, 1, 2, 4), 120.0, dtype=dtype)
    key = torch.full((1, 1, 3, 4), -120.0, dtype=dtype)  # scores of -28,800; the limit of float16 is 65,504
    value = torch.arange(3, dtype=dtype)[None, None, :, None].expand(1, 1, 3, 4)
    mask = torch.tensor([[True, True, False], [False, False, False]])[None, None]
    for probe in probes():
        assert attend(query, key, value, mask, probe)[0, 0, :, 0].tolist() == [0.5, 0.0]
