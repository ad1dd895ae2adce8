"""The inference copy of the model, for decoding on a CPU: encoder and decoding step over plain tensors.

A decoding step multiplies a few vectors by small matrices. On a CPU much of its time is overhead: calls of modules,
sites without a probe, views. Here:

- linear maps of the same input are one matrix: W^Q, W^K and W^V of self-attention, and W^K and W^V of cross-attention
  in all layers, so there is one product instead of three, or instead of 2N;
- keys and values are stored in place (fast_cache.py), and sums and ReLUs are computed in place;
- every matrix is stored in the order in which the product reads it (transformer/kernels/packed_linear.py);
- for a single short sentence, W^Q and W^O of cross-attention are folded into its keys and values (folded_attention.py);
- masked scores get -inf by the addition of one small tensor, which all layers share.

`Transformer.start` and `step` are the definition; tests/decoding/test_fast_transformer.py compares the two.
tests/benchmarks/decoding.py prints the gain of each point. The copy takes as much memory as the matrices of the model,
and in float32 once more for W^Q and W^O of cross-attention. On a GPU `Translator` uses the model itself, because the
copy has not been measured there.

`torch.compile` is not used: on a CPU, with torch 2.13, a compiled step was not faster at batch 1 (fixed shapes, frozen
weights, C++ wrapper), and with a variable length of the cache it was compiled again at every step.
"""

import copy
from collections.abc import Callable, Mapping
from typing import Self

import torch
from torch import Tensor
from torch.nn.functional import relu

from transformer.decoding.fast.copied_weights import CopiedWeights
from transformer.decoding.fast.fast_cache import FastLayerCache, FastState, Past
from transformer.decoding.fast.folded_attention import FoldableWeights
from transformer.decoding.fast.norm import norm
from transformer.decoding.fast.removed_parts import WHOLE, LayerWithout, RemovedParts
from transformer.kernels.fast_attention import additive_mask, few_queries_attention
from transformer.kernels.packed_linear import packed, packed_weight
from transformer.model import Transformer
from transformer.model.layers import DecoderLayer, EncoderLayer
from transformer.model.masks import padding_mask, source_mask, step_mask
from transformer.model.positions import FIRST_ROWS

SubLayer = Callable[[Tensor, Tensor], Tensor]  # input, and residual to be added -> output


class FastLayer:
    """Self-attention, feed-forward, and LayerNorm, which layers of both stacks have."""

    def __init__(self, layer: EncoderLayer | DecoderLayer, pre_norm: bool):
        attention = layer.self_attention
        self.heads, self.width = attention.heads, attention.query.out_features // attention.heads  # H, E
        self.pre_norm = pre_norm
        self.key_value_query = packed(attention.key, attention.value, attention.query)  # D -> 3D
        self.attention_output = packed(attention.output)
        self.hidden, self.output = packed(layer.feed_forward.hidden), packed(layer.feed_forward.output)
        self.activation = layer.feed_forward.activation
        residuals = [layer.self_attention_residual, layer.feed_forward_residual]
        if isinstance(layer, DecoderLayer):
            residuals.insert(1, layer.cross_attention_residual)
        self.norms = [norm(residual.norm) for residual in residuals]
        self.removed = WHOLE

    def without(self, removed: LayerWithout) -> Self:
        """The same layer without these parts; it shares the weights."""
        found = copy.copy(self)
        found.removed = removed
        return found

    def run(self, x: Tensor, sublayers: Mapping[str, SubLayer]) -> Tensor:
        """The sub-layers in their order, each with its residual connection and LayerNorm: x (R, D) -> (R, D)."""
        for (name, sublayer), normalise in zip(sublayers.items(), self.norms, strict=True):
            if name in self.removed.sublayers:
                x = x if self.pre_norm else normalise(x)
            else:
                x = sublayer(normalise(x), x) if self.pre_norm else normalise(sublayer(x, x))
        return x

    def feed_forward(self, x: Tensor, residual: Tensor) -> Tensor:
        """(R, D) -> (R, D)."""
        hidden = self.hidden(x)  # (R, F)
        hidden = hidden.relu_() if self.activation is relu else self.activation(hidden)  # (R, F)
        return self.output(hidden).add_(residual)  # (R, D)


class FastEncoderLayer(FastLayer):
    """One layer of the encoder."""

    def read(self, x: Tensor, sentences: int, source_bias: Tensor) -> Tensor:
        """All positions, x (B*S, D) -> (B*S, D); the bias is broadcastable to (B, H, S, S)."""

        def attend_to_source(x: Tensor, residual: Tensor) -> Tensor:
            projected = self.key_value_query(x).view(sentences, -1, 3, self.heads, self.width)  # (B, S, 3, H, E)
            key, value, query = projected.permute(2, 0, 3, 1, 4).unbind()  # (B, H, S, E) each
            context = few_queries_attention(query, key, value, source_bias)  # (B, H, S, E)
            context = self.removed.zero_heads("self_attention", context)  # (B, H, S, E)
            return self.attention_output(context.transpose(1, 2).reshape(x.shape)).add_(residual)  # (B*S, D)

        return self.run(x, {"self_attention": attend_to_source, "feed_forward": self.feed_forward})


class FastDecoderLayer(FastLayer):
    """One layer of the decoder."""

    def __init__(self, layer: DecoderLayer, pre_norm: bool):
        super().__init__(layer, pre_norm)
        self.source_query = packed(layer.cross_attention.query)
        self.source_output = packed(layer.cross_attention.output)

    def step(self, i: int, x: Tensor, state: FastState, past_bias: Tensor | None, source_bias: Tensor) -> Tensor:
        """The newest position of R rows in layer i, x (R, D) -> (R, D); biases broadcastable to (R, H, 1, K) and
        (B, H, W, S)."""
        past, cache = state.past, state.layers[i]

        def attend_to_past(x: Tensor, residual: Tensor) -> Tensor:
            past.newest[i].copy_(self.key_value_query(x))  # (R, 3D)
            context = few_queries_attention(past.queries[i], past.keys[i], past.values[i], past_bias)  # (R, H, 1, E)
            context = self.removed.zero_heads("self_attention", context)  # (R, H, 1, E)
            return self.attention_output(context.flatten(1)).add_(residual)  # (R, D)

        def attend_to_source(x: Tensor, residual: Tensor) -> Tensor:
            if cache.folded is not None:
                return cache.folded(x, residual)  # (R, D)
            sentences, heads, _, width = cache.cross_key.shape
            queries = self.source_query(x)  # (R, D)
            if len(x) == sentences:  # one row per sentence: as below with W = 1, without transposing
                queries = queries.view(sentences, heads, 1, width)  # (B, H, 1, E)
                context = few_queries_attention(
                    queries, cache.cross_key, cache.cross_value, source_bias
                )  # (B, H, 1, E)
                return self.source_output(context.flatten(1)).add_(residual)  # (R, D)
            # The rows of one sentence are W queries.
            queries = queries.view(sentences, -1, heads, width).transpose(1, 2)  # (B, H, W, E)
            context = few_queries_attention(queries, cache.cross_key, cache.cross_value, source_bias)  # (B, H, W, E)
            return self.source_output(context.transpose(1, 2).reshape(x.shape)).add_(residual)  # (R, D)

        sublayers = {"self_attention": attend_to_past, "cross_attention": attend_to_source}
        return self.run(x, {**sublayers, "feed_forward": self.feed_forward})


class FastTransformer:
    """Replaces a `Transformer` in a search: the same `start` and `step`, without a probe.

    It holds copies of the weights; the embeddings are the model's own. When the weights have changed (`is_current` says
    so), make a new one.
    """

    def __init__(self, model: Transformer):
        self.model = model
        self.config, self.output = model.config, model.output
        self.removed: RemovedParts = {}
        pre_norm = model.config.norm == "pre"
        encoder, decoder = model.encoder, model.decoder
        with torch.no_grad():
            self.encoder_layers = [FastEncoderLayer(layer, pre_norm) for layer in encoder.layers]
            self.encoder_norm = None if encoder.norm is None else norm(encoder.norm)
            cross = [layer.cross_attention for layer in decoder.layers]
            self.cross_keys_values = packed(*(linear for one in cross for linear in (one.key, one.value)))  # D -> 2N*D
            self.foldable = None
            if model.output.weight.dtype in (torch.float32, torch.float64):  # half precision would round once more
                self.foldable = FoldableWeights(
                    [one.query for one in cross], [one.output for one in cross], model.config.heads
                )
            self.layers = [FastDecoderLayer(layer, pre_norm) for layer in decoder.layers]
            self.norm = None if decoder.norm is None else norm(decoder.norm)
            self.projection = packed_weight(model.output.weight, model.output_bias)  # D -> V
            self.tokens, self.scale = decoder.embedding.tokens.weight, decoder.embedding.scale  # (V, D)
            self.positions = self._positions(min(FIRST_ROWS, model.config.max_positions))
        self._copied = CopiedWeights(model)

    def _positions(self, length: int) -> Tensor:
        """The first rows of the decoder's table of positions in the dtype of the weights: (P, D), or (P, 1)."""
        table = self.model.decoder.embedding.positions(length)
        return table.detach().to(self.output.weight.dtype)  # (P, D)

    def without(self, removed: RemovedParts) -> "FastTransformer":
        """The same model without these heads and sub-layers; it shares the weights."""
        found = object.__new__(FastTransformer)
        found.__dict__ = self.__dict__ | {"removed": removed}
        found.encoder_layers = [
            layer.without(removed.get(("encoder", i), WHOLE)) for i, layer in enumerate(self.encoder_layers)
        ]
        found.layers = [layer.without(removed.get(("decoder", i), WHOLE)) for i, layer in enumerate(self.layers)]
        return found

    def __reduce__(self) -> tuple[Callable[..., "FastTransformer"], tuple[Transformer, RemovedParts]]:
        """Copies and pickles have the model and the removed parts: torch can neither copy nor pickle matrices that
        oneDNN has packed."""
        return _rebuilt, (self.model, self.removed)

    def is_current(self) -> bool:
        """Whether the model's weights are still those that were copied: not replaced, moved or written since."""
        return self._copied.are_current()

    @property
    def training(self) -> bool:
        """Whether the model is in training mode."""
        return self.model.training

    def start(self, source: Tensor) -> FastState:
        """Encodes the source (B, S) once for all decoding steps."""
        encoder, sentences = self.model.encoder, len(source)
        mask = source_mask(source, encoder.window)  # (B, 1, 1, S), or (B, 1, S, S) with a window
        if encoder.window is not None:
            # Trap: fully masked padding would become NaN, also in later layers. So every position may attend to itself
            # (test_padding_that_a_window_masks_fully_changes_nothing).
            mask = mask | torch.eye(source.shape[1], dtype=torch.bool, device=source.device)  # (B, 1, S, S)
        x = encoder.embedding(source).flatten(0, 1)  # (B*S, D)
        source_bias = additive_mask(mask, x)
        for layer in self.encoder_layers:
            x = layer.read(x, sentences, source_bias)
        if self.encoder_norm is not None:
            x = self.encoder_norm(x)
        width = x.shape[1] // self.config.heads
        projected = self.cross_keys_values(x).view(sentences, -1, 2 * len(self.layers), self.config.heads, width)
        # Contiguous, otherwise every step would copy them.
        kept = projected.permute(2, 0, 3, 1, 4).contiguous()  # (2N, B, H, S, E)
        keys, values = kept[::2], kept[1::2]  # (N, B, H, S, E) each
        for decoder_layer, value in zip(self.layers, values, strict=True):
            decoder_layer.removed.zero_heads("cross_attention", value)  # a context of values that are 0 is 0
        caches = [FastLayerCache(*both) for both in zip(keys.unbind(), values.unbind(), strict=True)]
        real = padding_mask(source)  # (B, 1, 1, S)
        if self.foldable is not None and sentences == 1 and real.all():
            for cache, folded in zip(caches, self.foldable(keys[:, 0], values[:, 0]), strict=False):
                cache.folded = folded
        return FastState(caches, real, Past(len(self.layers)))

    def step(self, tokens: Tensor, state: FastState) -> Tensor:
        """One decoding step: the newest token of each row, tokens (R) -> logits (R, V) of the next."""
        past, positions = state.past, self.positions  # (P, D); another thread may replace them by more
        if past.length >= len(positions):
            positions = self._positions(min(2 * len(positions), self.config.max_positions))
            self.positions = positions
        x = torch.add(positions[past.length], torch.embedding(self.tokens, tokens), alpha=self.scale)  # (R, D)
        past.extend(len(x), self.config.heads, x.shape[1] // self.config.heads, x)
        mask = step_mask(past.length, self.config.attention_window, tokens.device)  # (1, 1, 1, K)
        past_bias = None if mask is None else additive_mask(mask, x)  # (1, 1, 1, K)
        if state.source_bias is None:
            state.source_bias = additive_mask(state.source_mask, x)  # (B, 1, 1, S)
        for i, layer in enumerate(self.layers):
            x = layer.step(i, x, state, past_bias, state.source_bias)
        if self.norm is not None:
            x = self.norm(x)
        return self.projection(x)  # (R, V)


def _rebuilt(model: Transformer, removed: RemovedParts) -> FastTransformer:
    return FastTransformer(model).without(removed)
