"""Three paths with one result: fused (no probe), step by step (probed), and one position at a time (cached)."""

from itertools import product
from typing import Any

import pytest
import torch
from torch import Tensor

from tests.support.small_model import B, T, batch, cached_logits, everything, probe_of, randomised, sites, small
from transformer.config import BOS, PAD, ModelConfig
from transformer.kernels.dropout import Dropout
from transformer.kernels.fast_attention import FEW_KEYS, attention
from transformer.model import NULL_PROBE, Probe, Transformer
from transformer.model.attention import attend

TOLERANCE = {torch.float64: (0.0, 1e-10), torch.float32: (1e-4, 1e-5)}
POSITIONS = [("sinusoidal", "interleaved"), ("sinusoidal", "concatenated"), ("learned", "interleaved"),
             ("none", "interleaved")]  # fmt: skip


def all_options() -> list[Any]:
    """An output bias, and the whole matrix: norm x positions and layout x window x activation x shared x depths. Half
    of the matrix is for soak tests: the other half has each five values of different options together."""
    options: list[list[Any]] = [
        ["post", "pre"], POSITIONS, [None, 1], ["relu", "gelu", "silu"], [True, False], [(1, 2), (2, 1)]
    ]  # fmt: skip
    matrix = zip(product(*(range(len(values)) for values in options)), product(*options), strict=True)
    return [
        pytest.param(small(output_bias=True), id="an output bias"),
        *(pytest.param(
            small(norm=norm, positions=positions, sinusoid_layout=layout, attention_window=window,
                  activation=activation, shared_embeddings=shared, encoder_layers=depths[0], decoder_layers=depths[1]),
            id=f"{norm}-{positions}-{layout}-{window}-{activation}-{'shared' if shared else 'untied'}-{depths}",
            marks=pytest.mark.soak if sum(places) % 2 else (),
        )
        for places, (norm, (positions, layout), window, activation, shared, depths) in matrix),
    ]  # fmt: skip


def assert_close(ours: Tensor, expected: Tensor, message: str = "") -> None:
    rtol, atol = TOLERANCE[ours.dtype]
    torch.testing.assert_close(ours, expected, rtol=rtol, atol=atol, msg=lambda text: f"{message}: {text}")


@pytest.mark.parametrize("config", all_options())
@torch.no_grad()
def test_probed_equals_unprobed_equals_cached(config: ModelConfig) -> None:
    model = randomised(config)
    source, target = batch()
    for dtype in (torch.float64, torch.float32):
        model.to(dtype)
        fast = model(source, target)
        assert fast.dtype == dtype
        assert_close(everything(model, source, target)["logits"], fast, "probed")
        real = target != PAD
        assert_close(cached_logits(model, source, target)[real], fast[real], "cached")


@pytest.mark.parametrize("norm", ["post", "pre"])
@pytest.mark.parametrize("window", [None, 1])
@torch.no_grad()
def test_the_paths_agree_without_padding_too(norm: str, window: int | None) -> None:
    model = randomised(small(norm=norm, attention_window=window))
    source, target = batch(padded=False)
    fast = model(source, target)
    assert_close(everything(model, source, target)["logits"], fast, "probed")
    assert_close(cached_logits(model, source, target), fast, "cached")


@pytest.mark.parametrize("masked", ["nothing", "padding", "window", "blind", "causal"])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=str)
@pytest.mark.parametrize("keys", [9, FEW_KEYS, FEW_KEYS + 1])
@torch.no_grad()
def test_attention_is_the_same_on_both_paths_for_every_batch_size(masked: str, dtype: torch.dtype, keys: int) -> None:
    """Decoding without gradients: from one query of one row to many of many, which kernels may treat differently."""
    for rows, queries in [(1, 1), (1, 8), (4, 4), (31, 1), (32, 1), (8, 4), (64, 1), (12, 7), (5, 8), (40, 9)]:
        query = torch.randn(rows, 2, queries, 4, dtype=dtype)
        key, value = (torch.randn(rows, 2, keys, 4, dtype=dtype) for _ in range(2))
        allowed: dict[str, Tensor | None] = {
            "nothing": None,
            "padding": torch.arange(keys) < torch.randint(1, keys, (rows, 1, 1, 1)),  # (B, 1, 1, K)
            "window": (torch.arange(keys) >= keys - 3)[None, None, None],  # (1, 1, 1, K)
            "blind": torch.arange(keys) < torch.randint(0, 3, (rows, 1, queries, 1)),  # (B, 1, Q, K)
            "causal": torch.ones(queries, keys, dtype=torch.bool).tril()[None, None],  # (1, 1, Q, K)
        }
        mask = allowed[masked]
        probe = Probe(["products", "scores", "mask", "masked_scores", "weights"], ["weights"])
        fast, explicit = attend(query, key, value, mask), attend(query, key, value, mask, probe)
        assert_close(fast, explicit, f"{rows} rows, {queries} queries")
        if masked == "blind":
            assert mask is not None
            blind = ~mask.any(dim=-1).expand(rows, 2, queries)
            assert fast[blind].eq(0).all()
            query[~blind] = torch.nan
            assert attend(query, key, value, mask).isnan().all(dim=-1).equal(~blind)  # a real NaN is not hidden


@pytest.mark.parametrize("norm", ["post", "pre"])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=str)
def test_training_gradients_are_the_same_on_the_fast_and_the_explicit_path(norm: str, dtype: torch.dtype) -> None:
    model = randomised(small(norm=norm, attention_window=1), dtype).train()
    for module in model.modules():
        if isinstance(module, Dropout):
            module.rate = 0.0
    source, target = batch()
    gradients = []
    for probe in (NULL_PROBE, probe_of(model, "*")):
        model.zero_grad()
        model(source, target, probe).logsumexp(-1).sum().backward()
        gradients.append({name: p.grad for name, p in model.named_parameters() if p.grad is not None})
    assert gradients[0].keys() == gradients[1].keys() == dict(model.named_parameters()).keys()
    for name, gradient in gradients[0].items():
        rtol, atol = (0.0, 1e-10) if dtype == torch.float64 else (1e-3, 1e-4)
        torch.testing.assert_close(gradients[1][name], gradient, rtol=rtol, atol=atol, msg=name)


@pytest.mark.parametrize("beam", [3, 12])
@pytest.mark.parametrize("window", [None, 3])
@pytest.mark.parametrize("positions", ["sinusoidal", "learned", "none"])
@torch.no_grad()
def test_cached_decoding_equals_one_teacher_forced_pass(positions: str, window: int | None, beam: int) -> None:
    """Twenty steps, several rows per sentence (a beam), each with its own tokens."""
    model = randomised(small(positions=positions, attention_window=window))
    source, _ = batch()
    rows, steps = beam * B, 20
    target = torch.randint(4, 13, (rows, steps))
    target[:, 0] = BOS
    expected = model(source.repeat_interleave(beam, dim=0), target)
    assert_close(cached_logits(model, source, target), expected)


@pytest.mark.parametrize("before", [1, 3, 15, 16, 17])  # the cache grows by doubling
@torch.no_grad()
def test_rows_that_are_reordered_dropped_and_repeated_continue_from_their_own_past(before: int) -> None:
    model = randomised(small())
    source, _ = batch()
    past = torch.randint(4, 13, (2 * B, before))
    state = model.start(source)
    for t in range(before):
        model.step(past[:, t], state)
    keep = torch.tensor([1, 0, 2, 2, 5, 4])  # swapped; the first one twice; swapped
    state.select(keep)
    history = torch.cat([past[keep], torch.randint(4, 13, (2 * B, 2))], dim=1)
    for t in (before, before + 1):
        logits = model.step(history[:, t], state)
        expected = model(source.repeat_interleave(2, dim=0), history[:, : t + 1])[:, -1]
        assert_close(logits, expected, f"step {t}")


@torch.no_grad()
def test_a_finished_sentence_can_leave_the_batch() -> None:
    model = randomised(small())
    source, _ = batch()
    past = torch.randint(4, 13, (2 * B, 4))
    state = model.start(source)
    for t in range(3):
        model.step(past[:, t], state)
    state.select_sentences(torch.tensor([0, 2]))
    rows = torch.tensor([0, 1, 4, 5])
    state.select(rows)
    expected = model(source[[0, 0, 2, 2]], past[rows])[:, -1]
    assert_close(model.step(past[rows, 3], state), expected)


@pytest.mark.parametrize("norm", ["post", "pre"])
@pytest.mark.parametrize("window", [None, 1])
@torch.no_grad()
def test_a_probed_step_records_the_rows_of_the_teacher_forced_pass(norm: str, window: int | None) -> None:
    model = randomised(small(norm=norm, attention_window=window))
    source, target = batch(padded=False)
    whole = everything(model, source, target)
    at_start = probe_of(model, "*")
    state = model.start(source, at_start)
    for name, record in at_start.records.items():
        torch.testing.assert_close(record, whole[name], rtol=0, atol=1e-10, msg=name)
    seen = set(at_start.records)
    for t in range(T):
        probe = probe_of(model, "*")
        model.step(target[:, t], state, probe)
        seen |= probe.records.keys()
        for name, step in probe.records.items():
            site = name.rsplit(".", 1)[-1]
            row = whole[name]
            if "attention" in name and site not in (
                "residual_in",
                "residual_connection",
                "residual_sum",
                "norm_out",
                "output",
            ):
                row = row if "cross" in name and site in ("key", "value") else row[:, :, t : t + 1]
            else:
                row = row[:, t : t + 1]
            if "self_attention" in name and site in ("products", "scores", "mask", "masked_scores", "weights"):
                row = row[..., : t + 1]  # the keys that exist by now
            if name in ("logits", "probabilities"):
                row = row.squeeze(1)
            if row.dtype == torch.bool:
                assert torch.equal(step, row), name
            else:
                torch.testing.assert_close(step, row, rtol=0, atol=1e-10, msg=name)
    assert seen == whole.keys()


@torch.no_grad()
def test_an_edit_of_the_encoder_acts_while_decoding() -> None:
    model = randomised(small(norm="pre"))
    source, target = batch(padded=False)
    for name in ("encoder.norm_out", "encoder.layers.0.feed_forward.output", "decoder.layers.1.cross_attention.value"):
        edited = Probe(sites(model.config), (), {name: lambda x: x * 0.5})
        expected = model(source, target, edited)
        state = model.start(source, edited)
        logits = torch.stack([model.step(target[:, t], state) for t in range(T)], dim=1)
        assert_close(logits, expected, name)
        assert not torch.allclose(expected, model(source, target))


@torch.no_grad()
def test_the_head_outputs_and_the_bias_add_up_to_the_output() -> None:
    model = randomised(small(heads=4))
    source, target = batch()
    records = everything(model, source, target)
    count = 0
    for stack in ("encoder", "decoder"):
        for i, layer in enumerate(model.get_submodule(f"{stack}.layers").children()):
            for kind in ("self_attention", "cross_attention"):
                if stack == "encoder" and kind == "cross_attention":
                    continue
                bias = layer.get_parameter(f"{kind}.output.bias")
                site = f"{stack}.layers.{i}.{kind}"
                assert_close(records[f"{site}.head_outputs"].sum(dim=1) + bias, records[f"{site}.output"], site)
                count += 1
    assert count == 5


@torch.no_grad()
def test_the_fast_path_is_taken_wherever_nothing_is_probed(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = 0

    def counting(*args: Any) -> Tensor:
        nonlocal calls
        calls += 1
        return attention(*args)

    monkeypatch.setattr("transformer.model.attention.attention", counting)
    model = randomised(small())  # 1 + 2 * 2 attentions
    for patterns, expected in [([], 5), (["*embedding*", "logits"], 5), (["decoder.layers.1.*weights"], 3), (["*"], 0)]:
        calls = 0
        model(*batch(), probe_of(model, *patterns))
        assert calls == expected, patterns


def test_decoding_computes_each_position_once() -> None:
    model: Transformer = randomised(small())
    seen: list[int] = []
    feed_forward = model.decoder.layers[0].feed_forward
    feed_forward.register_forward_hook(lambda module, args, output: seen.append(args[0].numel()))
    source, target = batch()
    cached_logits(model, source, target)
    assert seen == [B * model.config.d_model] * T
