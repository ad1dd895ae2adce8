"""Export: a checkpoint as `torch.nn.Transformer`, the implementation in PyTorch, with our weights.

`torch.nn.Transformer` computes both stacks: attention, feed-forward, residual sums and LayerNorm. What it does not have
is computed here: embeddings, positions, and the projection to the vocabulary. Three things differ:

- W^Q, W^K and W^V are one matrix there, concatenated along the output;
- its own stacks end with one more LayerNorm even in post-norm mode, where the paper has none: here it is left out;
- its masks mean the opposite, True = must not attend.

It has no cache: each step of `greedy` computes all tokens of the translation again.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import linear

from transformer.config import BOS, EOS, PAD, ModelConfig
from transformer.decoding.log_probabilities import next_log_probabilities
from transformer.model import Transformer
from transformer.model.attention import MultiHeadAttention
from transformer.model.feed_forward import ACTIVATIONS
from transformer.model.masks import causal_mask, window_mask

State = dict[str, Tensor]


def torch_transformer(config: ModelConfig) -> nn.Transformer:
    """`torch.nn.Transformer` of this configuration, on the meta device: without weights."""
    options: dict[str, Any] = {
        "d_model": config.d_model,
        "nhead": config.heads,
        "dim_feedforward": config.d_ff,
        "activation": ACTIVATIONS[config.activation],
        "layer_norm_eps": config.norm_epsilon,
        "norm_first": config.norm == "pre",
        "batch_first": True,
    }
    with torch.device("meta"):
        norms = [nn.LayerNorm(config.d_model, eps=config.norm_epsilon) if config.norm == "pre" else None for _ in "ed"]
        encoder = nn.TransformerEncoder(
            nn.TransformerEncoderLayer(**options), config.encoder_layers, norms[0], enable_nested_tensor=False
        )
        decoder = nn.TransformerDecoder(nn.TransformerDecoderLayer(**options), config.decoder_layers, norms[1])
        return nn.Transformer(
            config.d_model, config.heads, custom_encoder=encoder, custom_decoder=decoder, batch_first=True
        )


def attention_state(ours: MultiHeadAttention) -> State:
    """The weights of one attention by the names of `torch.nn.MultiheadAttention`."""
    parts = (ours.query, ours.key, ours.value)
    return {
        "in_proj_weight": torch.cat([part.weight for part in parts]).detach(),  # (3 D, D)
        "in_proj_bias": torch.cat([part.bias for part in parts]).detach(),  # (3 D)
    } | _named("out_proj", ours.output)


def torch_state(model: Transformer) -> State:
    """Our weights by the names of `torch.nn.Transformer`. Only the joined matrices are copies."""
    state: State = {}
    stacks: list[tuple[str, Any]] = [("encoder", model.encoder), ("decoder", model.decoder)]
    for name, stack in stacks:
        if stack.norm is not None:
            state |= _named(f"{name}.norm", stack.norm)
        for i, layer in enumerate(stack.layers):
            attentions = {"self_attn": layer.self_attention}
            residuals = [layer.self_attention_residual, layer.feed_forward_residual]
            if name == "decoder":
                attentions["multihead_attn"] = layer.cross_attention
                residuals.insert(1, layer.cross_attention_residual)
            parts = {"linear1": layer.feed_forward.hidden, "linear2": layer.feed_forward.output}
            parts |= {f"norm{j}": residual.norm for j, residual in enumerate(residuals, start=1)}
            for there, attention in attentions.items():
                state |= {f"{name}.layers.{i}.{there}.{key}": each for key, each in attention_state(attention).items()}
            for there, part in parts.items():
                state |= _named(f"{name}.layers.{i}.{there}", part)
    return state


def _named(name: str, part: nn.Module) -> State:
    return {f"{name}.{key}": value.detach() for key, value in part.state_dict().items()}


class TorchModel(nn.Module):
    """One of our models, computed by `torch.nn.Transformer`, in eval mode. Only the joined matrices are copies."""

    def __init__(self, model: Transformer):
        super().__init__()
        self.config = model.config
        self.stacks = torch_transformer(model.config)
        self.stacks.load_state_dict(torch_state(model), assign=True)
        tokens = (model.encoder.embedding.tokens.weight, model.decoder.embedding.tokens.weight, model.output.weight)
        kept = {id(weight): nn.Parameter(weight.detach()) for weight in tokens}  # one for matrices that are shared
        self.source_tokens, self.target_tokens, self.output = (kept[id(weight)] for weight in tokens)  # (V, D)
        self.bias = None if model.output_bias is None else nn.Parameter(model.output_bias.detach())  # (V)
        self.positions = (model.encoder.embedding.positions, model.decoder.embedding.positions)
        self.eval()

    def encode(self, source: Tensor) -> Tensor:
        """source (B, S) ids -> (B, S, D)."""
        x = self._embedded(source, self.source_tokens, 0)  # (B, S, D)
        hidden = self._hidden(source, causal=False)
        found: Tensor = self.stacks.encoder(x, mask=hidden, src_key_padding_mask=_padding(source))
        return found

    def decode(self, target: Tensor, memory: Tensor, source: Tensor) -> Tensor:
        """target (B, T) ids, memory (B, S, D) -> logits (B, T, V)."""
        return linear(self._states(target, memory, source), self.output, self.bias)  # (B, T, V)

    def _states(self, target: Tensor, memory: Tensor, source: Tensor) -> Tensor:
        found: Tensor = self.stacks.decoder(
            self._embedded(target, self.target_tokens, 1),
            memory,
            tgt_mask=self._hidden(target, causal=True),
            tgt_key_padding_mask=_padding(target),
            memory_key_padding_mask=_padding(source),
        )  # (B, T, D)
        return found

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        """As `Transformer.forward`: logits (B, T, V)."""
        return self.decode(target, self.encode(source), source)

    def attention_weights(self, source: Tensor, target: Tensor) -> State:
        """The weights of all heads in one pass, (B, H, Q, K), by the names of our sites."""
        found: State = {}
        hooks = [hook for name, each in self._attentions() for hook in _record(each, name, found)]
        self(source, target)
        for hook in hooks:
            hook.remove()
        return found

    @torch.no_grad()
    def greedy(self, source_ids: Sequence[int], limit: int) -> list[int]:
        """The most probable token at each step, until </s> or `limit` tokens."""
        source = torch.tensor([list(source_ids)], device=self.output.device)  # (1, S)
        memory = self.encode(source)  # (1, S, D)
        ids: list[int] = []
        while len(ids) < limit and EOS not in ids:
            read = torch.tensor([[BOS, *ids]], device=source.device)  # (1, T)
            newest = self._states(read, memory, source)[:, -1:]  # (1, 1, D)
            ids.append(int(next_log_probabilities(linear(newest, self.output, self.bias), None).argmax()))
        return ids

    def _embedded(self, ids: Tensor, tokens: Tensor, stack: int) -> Tensor:
        return tokens[ids] * self.config.d_model**0.5 + self.positions[stack](ids.shape[1])  # (B, T, D)

    def _hidden(self, ids: Tensor, *, causal: bool) -> Tensor | None:
        """(T, T), True = must not attend; None: every position may attend to every other."""
        length, window = ids.shape[1], self.config.attention_window
        masks = [causal_mask(length, ids.device)] if causal else []
        masks += [window_mask(length, window, ids.device)] if window is not None else []
        return ~torch.stack(masks).all(dim=0)[0, 0] if masks else None  # (T, T)

    def _attentions(self) -> list[tuple[str, nn.MultiheadAttention]]:
        parts: list[tuple[str, nn.MultiheadAttention]] = []
        for name, stack in (("encoder", self.stacks.encoder), ("decoder", self.stacks.decoder)):
            layers: Any = stack.layers
            for i, layer in enumerate(layers):
                parts.append((f"{name}.layers.{i}.self_attention.weights", layer.self_attn))
                if name == "decoder":
                    parts.append((f"{name}.layers.{i}.cross_attention.weights", layer.multihead_attn))
        return parts


def _padding(ids: Tensor) -> Tensor | None:
    """(B, T), True = must not attend; None where there is no padding."""
    hidden = ids == PAD
    return hidden if hidden.any() else None


def _record(attention: nn.MultiheadAttention, name: str, found: State) -> list[Any]:
    """Two hooks. The first asks for the weights of each head, because the layers of torch.nn do not. The second stores
    them."""

    def ask(module: nn.Module, args: Any, options: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        return args, options | {"need_weights": True, "average_attn_weights": False}

    return [
        attention.register_forward_pre_hook(ask, with_kwargs=True),
        attention.register_forward_hook(lambda module, args, output: found.update({name: output[1].detach()})),
    ]
