"""The same numbers as `torch.nn`, which others wrote: float64, the same weights, to 1e-10.

How our weights get there, and what differs, is in transformer/export/torch_model.py.
"""

from typing import Any, Literal

import pytest
import torch
from torch import Tensor, nn

from tests.support.small_decoding import ids, random_sources, undecided
from tests.support.small_model import B, S, T, batch, probe_of, randomised, scramble, small
from transformer.config import PAD, DecodingConfig, ModelConfig
from transformer.decoding.length_penalty import length_limit
from transformer.decoding.search import search
from transformer.export.torch_model import TorchModel, attention_state
from transformer.model.attention import MultiHeadAttention
from transformer.model.probe import Probe


def twin_configs() -> list[ModelConfig]:
    norms: tuple[Literal["post", "pre"], ...] = ("post", "pre")
    return [
        small(norm=norm, activation=activation, encoder_layers=encoder, decoder_layers=decoder, heads=heads,
              attention_window=window, norm_epsilon=epsilon)
        for norm in norms
        for activation, encoder, decoder, heads, window, epsilon in [
            ("relu", 2, 3, 2, None, 1e-6),
            ("gelu", 3, 1, 4, None, 1e-2),
            ("silu", 1, 2, 1, 2, 1e-5),  # a window in which no position is blind: there torch says NaN
        ]
    ] + [
        small(positions="learned", shared_embeddings=False), small(positions="none"), small(output_bias=True)
    ]  # fmt: skip


@pytest.mark.parametrize("config", twin_configs(), ids=lambda c: f"{c.norm}-{c.activation}-{c.positions}")
def test_logits_equal_those_of_torch_nn_transformer(config: ModelConfig) -> None:
    model = randomised(config)
    twin = TorchModel(model)
    source, target = batch()
    real = target != PAD
    with torch.no_grad():
        torch.testing.assert_close(model(source, target)[real], twin(source, target)[real], rtol=0, atol=1e-10)


@pytest.mark.parametrize("config", twin_configs(), ids=lambda c: f"{c.norm}-{c.activation}-{c.positions}")
def test_every_head_of_every_layer_has_the_weights_of_torch_nn_transformer(config: ModelConfig) -> None:
    model = randomised(config)
    twin = TorchModel(model)
    source, target = batch()
    probe = probe_of(model, "*attention.weights")
    with torch.no_grad():
        model(source, target, probe)
        found = twin.attention_weights(source, target)
    assert len(found) == config.encoder_layers + 2 * config.decoder_layers
    assert probe.records.keys() == found.keys()
    for name, weights in found.items():
        real = (source if name.startswith("encoder") else target) != PAD
        ours = probe.records[name].transpose(1, 2)[real]  # (queries, H, K)
        torch.testing.assert_close(ours, weights.transpose(1, 2)[real], rtol=0, atol=1e-10, msg=name)


@pytest.mark.parametrize("shared", [True, False])
def test_torch_nn_transformer_translates_greedily_to_the_same_tokens(shared: bool) -> None:
    model = undecided(shared)
    sources = random_sources(6)
    settings = DecodingConfig(method="greedy", n_best=1)
    limits = [length_limit(len(source), settings, model.config.max_positions) for source in sources]
    ours = [ids(found) for found in search(model, sources, settings)]
    assert [TorchModel(model).greedy(source, limit) for source, limit in zip(sources, limits, strict=True)] == ours
    assert len({tuple(each) for each in ours}) > 3


@pytest.mark.parametrize("norm", ["post", "pre"])
def test_gradients_equal_those_of_torch_nn_transformer(norm: str) -> None:
    model = randomised(small(norm=norm))
    twin = TorchModel(model)
    source, target = batch()
    real = target != PAD
    for module in (model, twin):
        module(source, target)[real].logsumexp(-1).sum().backward()
    (encoder, *_), (first, second) = twin.stacks.encoder.layers, twin.stacks.decoder.layers
    pairs: list[tuple[Tensor, Any]] = [
        (model.output.weight, twin.output),
        (model.encoder.layers[0].feed_forward.hidden.weight, encoder.linear1),
        (model.decoder.layers[0].self_attention_residual.norm.weight, first.norm1),
        (model.decoder.layers[1].cross_attention.output.weight, second.multihead_attn.out_proj),
    ]
    for ours, theirs in pairs:
        assert ours.grad is not None
        expected = theirs.grad if isinstance(theirs, Tensor) else theirs.weight.grad
        torch.testing.assert_close(ours.grad, expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("heads", [1, 2, 4])
@pytest.mark.parametrize("masked", ["nothing", "padding", "causal", "both"])
def test_attention_and_its_weights_equal_those_of_torch(heads: int, masked: str) -> None:
    config = small(heads=heads)
    ours = MultiHeadAttention(config).double().eval()
    scramble(ours)
    theirs = nn.MultiheadAttention(config.d_model, heads, batch_first=True, dtype=torch.float64).eval()
    theirs.load_state_dict(attention_state(ours))
    x = torch.randn(B, T, config.d_model, dtype=torch.float64)
    memory = x if masked in ("causal", "both") else torch.randn(B, S, config.d_model, dtype=torch.float64)
    source, target = batch()
    keys = target if memory is x else source
    padding = keys != PAD if masked in ("padding", "both") else torch.ones_like(keys, dtype=torch.bool)  # (B, K)
    allowed = torch.ones(T, keys.shape[1], dtype=torch.bool)
    if masked in ("causal", "both"):
        allowed = allowed.tril()
    mask = None if masked == "nothing" else padding[:, None, None, :] & allowed  # (B, 1, Q, K)

    names = ["query", "key", "value", "products", "scores", "mask", "masked_scores", "weights", "context", "output"]
    probe = Probe(names, ["weights"])
    output = ours(x, memory, mask, probe)
    expected, weights = theirs(
        x, memory, memory, key_padding_mask=~padding, attn_mask=~allowed, average_attn_weights=False
    )
    torch.testing.assert_close(output, expected, rtol=0, atol=1e-10)
    torch.testing.assert_close(ours(x, memory, mask), expected, rtol=0, atol=1e-10)
    torch.testing.assert_close(probe.records["weights"], weights, rtol=0, atol=1e-10)
