"""The same numbers as `torch.nn`, which others wrote: float64, copied weights, to 1e-10.

`torch.nn.Transformer` puts one more LayerNorm on each stack even in post-norm mode, where the paper has none; here its
stacks are built without. Its masks mean the opposite (True = must not look): `~` below is the one adapter.
"""

import math
from typing import Any, Literal

import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import linear

from tests.support.small_model import B, S, T, batch, randomised, scramble, small, watch
from transformer.config import PAD, ModelConfig
from transformer.model import Transformer
from transformer.model.attention import MultiHeadAttention
from transformer.model.feed_forward import ACTIVATIONS
from transformer.model.probe import Probe


def copy_attention(ours: MultiHeadAttention, theirs: nn.MultiheadAttention) -> None:
    assert theirs.in_proj_weight is not None
    theirs.in_proj_weight.copy_(torch.cat([ours.query.weight, ours.key.weight, ours.value.weight]))
    theirs.in_proj_bias.copy_(torch.cat([ours.query.bias, ours.key.bias, ours.value.bias]))
    theirs.out_proj.load_state_dict(ours.output.state_dict())


class Twin(nn.Module):
    """`torch.nn`'s encoder and decoder with the weights of one of our models; embedding and projection around them."""

    def __init__(self, model: Transformer):
        super().__init__()
        self.config = config = model.config
        self.tokens = nn.Parameter(model.output.weight.detach().clone())  # (V, D), three-way shared
        self.positions = model.encoder.embedding.positions.table  # (P, D), proved in test_positions
        options: dict[str, Any] = {
            "d_model": config.d_model,
            "nhead": config.heads,
            "dim_feedforward": config.d_ff,
            "activation": ACTIVATIONS[config.activation],
            "layer_norm_eps": config.norm_epsilon,
            "norm_first": config.norm == "pre",
            "batch_first": True,
            "dtype": torch.float64,
        }
        norms = [nn.LayerNorm(config.d_model, eps=config.norm_epsilon, dtype=torch.float64) for _ in range(2)]
        closing = norms if config.norm == "pre" else [None, None]
        self.encoder = nn.TransformerEncoder(
            nn.TransformerEncoderLayer(**options), config.encoder_layers, closing[0], enable_nested_tensor=False
        )
        self.decoder = nn.TransformerDecoder(nn.TransformerDecoderLayer(**options), config.decoder_layers, closing[1])
        self.weights: dict[str, Tensor] = {}
        with torch.no_grad():
            self._copy(model)
        self.eval()

    def _copy(self, model: Transformer) -> None:
        stacks: list[tuple[str, Any, Any]] = [
            ("encoder", model.encoder, self.encoder),
            ("decoder", model.decoder, self.decoder),
        ]
        for name, ours, theirs in stacks:
            if ours.norm is not None and theirs.norm is not None:
                theirs.norm.load_state_dict(ours.norm.state_dict())
            for i, (a, b) in enumerate(zip(ours.layers, theirs.layers, strict=True)):
                copy_attention(a.self_attention, b.self_attn)
                self._listen(b.self_attn, f"{name}.layers.{i}.self_attention.weights")
                residuals = [a.self_attention_residual, a.feed_forward_residual]
                if isinstance(b, nn.TransformerDecoderLayer):
                    copy_attention(a.cross_attention, b.multihead_attn)
                    self._listen(b.multihead_attn, f"{name}.layers.{i}.cross_attention.weights")
                    residuals.insert(1, a.cross_attention_residual)
                b.linear1.load_state_dict(a.feed_forward.hidden.state_dict())
                b.linear2.load_state_dict(a.feed_forward.output.state_dict())
                for j, residual in enumerate(residuals, start=1):
                    getattr(b, f"norm{j}").load_state_dict(residual.norm.state_dict())

    def _listen(self, attention: nn.MultiheadAttention, name: str) -> None:
        def ask(module: nn.Module, args: Any, options: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
            return args, options | {"need_weights": True, "average_attn_weights": False}

        attention.register_forward_pre_hook(ask, with_kwargs=True)
        attention.register_forward_hook(lambda module, args, output: self.weights.update({name: output[1].detach()}))

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        window, far = self.config.attention_window, self.config.attention_window or 0

        def hidden(length: int, causal: bool) -> Tensor:
            """(T, T), True = must not look, written as the definition is spoken."""
            rows = [[(causal and k > q) or (window is not None and abs(k - q) > far) for k in range(length)]
                    for q in range(length)]  # fmt: skip
            return torch.tensor(rows)

        scale = math.sqrt(self.config.d_model)
        x = self.tokens[source] * scale + self.positions[: source.shape[1]]
        memory = self.encoder(x, mask=hidden(source.shape[1], False), src_key_padding_mask=source == PAD)
        y = self.tokens[target] * scale + self.positions[: target.shape[1]]
        states = self.decoder(
            y,
            memory,
            tgt_mask=hidden(target.shape[1], True),
            tgt_key_padding_mask=target == PAD,
            memory_key_padding_mask=source == PAD,
        )
        return linear(states, self.tokens)


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
    ]  # fmt: skip


@pytest.mark.parametrize("config", twin_configs(), ids=lambda c: f"{c.norm}-{c.activation}")
def test_logits_equal_those_of_torch_nn_transformer(config: ModelConfig) -> None:
    model = randomised(config)
    twin = Twin(model)
    source, target = batch()
    real = target != PAD
    with torch.no_grad():
        torch.testing.assert_close(model(source, target)[real], twin(source, target)[real], rtol=0, atol=1e-10)


@pytest.mark.parametrize("config", twin_configs(), ids=lambda c: f"{c.norm}-{c.activation}")
def test_every_head_of_every_layer_has_the_weights_of_torch_nn_transformer(config: ModelConfig) -> None:
    model = randomised(config)
    twin = Twin(model)
    source, target = batch()
    probe = watch(model, "*attention.weights")
    with torch.no_grad():
        model(source, target, probe)
        twin(source, target)
    assert len(twin.weights) == config.encoder_layers + 2 * config.decoder_layers
    assert probe.records.keys() == twin.weights.keys()
    for name, weights in twin.weights.items():
        real = (source if name.startswith("encoder") else target) != PAD
        ours = probe.records[name].transpose(1, 2)[real]  # (queries, H, K)
        torch.testing.assert_close(ours, weights.transpose(1, 2)[real], rtol=0, atol=1e-10, msg=name)


@pytest.mark.parametrize("norm", ["post", "pre"])
def test_gradients_equal_those_of_torch_nn_transformer(norm: str) -> None:
    model = randomised(small(norm=norm))
    twin = Twin(model)
    source, target = batch()
    real = target != PAD
    for module in (model, twin):
        module(source, target)[real].logsumexp(-1).sum().backward()
    (encoder, *_), (first, second) = twin.encoder.layers, twin.decoder.layers
    pairs: list[tuple[Tensor, Any]] = [
        (model.output.weight, twin.tokens),
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
    with torch.no_grad():
        copy_attention(ours, theirs)
    x = torch.randn(B, T, config.d_model, dtype=torch.float64)
    memory = x if masked in ("causal", "both") else torch.randn(B, S, config.d_model, dtype=torch.float64)
    source, target = batch()
    ids = target if memory is x else source
    padding = ids != PAD if masked in ("padding", "both") else torch.ones_like(ids, dtype=torch.bool)  # (B, K)
    allowed = torch.ones(T, ids.shape[1], dtype=torch.bool)
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
