"""The decoding step once more, flat: for speed, and for nothing else.

This is the one place where the code that is fast is not the code that teaches. A step of decoding multiplies a few
vectors by small matrices, and on a CPU much of its time goes into what surrounds the products: calls of modules, sites
that nobody watches, views. Here the same step is written over plain tensors:

- W^Q, W^K and W^V of self-attention are one matrix, so that there is one product instead of three;
- every matrix is stored in the order in which the product reads it: transposed, or in bfloat16 as oneDNN packs it;
- keys that may not be looked at get -inf added, from one small tensor a step. (The newest position may always look at
  itself, and every source has a piece: no query here may look nowhere.)

`Transformer.step` is the definition, and this equals it (tests/decoding/test_flat.py). What it gains is in the column
"by modules" of tests/benchmarks/decoding.py. It costs a second copy of the decoder's matrices.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention

from transformer.model import DecoderState, Transformer
from transformer.model.cache import LayerCache
from transformer.model.layers import DecoderLayer
from transformer.model.masks import step_mask


class Affine(NamedTuple):
    """x W + b."""

    weight: Tensor  # (in, out)
    bias: Tensor | None  # (out)

    def __call__(self, x: Tensor) -> Tensor:
        """(R, in) -> (R, out)."""
        return x @ self.weight if self.bias is None else torch.addmm(self.bias, x, self.weight)


class PackedAffine(NamedTuple):
    """The same in bfloat16 on a CPU, whose instructions want the numbers of W in pairs. A product of matrices as they
    are packs W anew each time, which for a few rows takes longer than the product."""

    weight: Tensor  # packed by oneDNN
    bias: Tensor | None  # (out)

    def __call__(self, x: Tensor) -> Tensor:
        """(R, in) -> (R, out)."""
        return torch.ops.mkldnn._linear_pointwise(x, self.weight, self.bias, "none", [], "")


class Norm(NamedTuple):
    """LayerNorm."""

    weight: Tensor  # (D)
    bias: Tensor  # (D)
    epsilon: float

    def __call__(self, x: Tensor) -> Tensor:
        """(R, D) -> (R, D)."""
        return torch.layer_norm(x, self.bias.shape, self.weight, self.bias, self.epsilon)


class FlatLayer:
    """One layer of the decoder, with what its modules hold read out."""

    def __init__(self, layer: DecoderLayer, pre_norm: bool):
        past, source = layer.self_attention, layer.cross_attention
        self.heads = past.heads
        self.pre_norm = pre_norm
        self.query_key_value = affine(past.query, past.key, past.value)  # D -> 3D
        self.past_output = affine(past.output)
        self.source_query, self.source_output = affine(source.query), affine(source.output)
        self.hidden, self.output = affine(layer.feed_forward.hidden), affine(layer.feed_forward.output)
        self.activation = layer.feed_forward.activation
        residuals = layer.self_attention_residual, layer.cross_attention_residual, layer.feed_forward_residual
        self.norms = [norm(residual.norm) for residual in residuals]

    def step(self, x: Tensor, cache: LayerCache, past_bias: Tensor | None, source_bias: Tensor) -> Tensor:
        """The newest position of R rows, x (R, D) -> (R, D); biases broadcastable to (R, H, 1, K) and (B, H, W, S)."""

        def attend_to_past(x: Tensor) -> Tensor:
            projected = self.query_key_value(x).view(len(x), 3, self.heads, -1)  # (R, 3, H, E)
            keys, values = cache.past.append(cache.index, projected[:, 1:].transpose(0, 1))  # (R, H, K, E) each
            context = attend(projected[:, 0, :, None], keys, values, past_bias)  # (R, H, 1, E)
            return self.past_output(context.reshape(x.shape))  # (R, D)

        def attend_to_source(x: Tensor) -> Tensor:
            queries = self.source_query(x).view(len(cache.cross_key), -1, self.heads, cache.cross_key.shape[-1])
            queries = queries.transpose(1, 2)  # (B, H, W, E): the rows of one sentence are W queries
            context = attend(queries, cache.cross_key, cache.cross_value, source_bias)  # (B, H, W, E)
            return self.source_output(context.transpose(1, 2).reshape(x.shape))  # (R, D)

        def feed_forward(x: Tensor) -> Tensor:
            return self.output(self.activation(self.hidden(x)))  # (R, D)

        for sublayer, norm in zip((attend_to_past, attend_to_source, feed_forward), self.norms, strict=True):
            x = x + sublayer(norm(x)) if self.pre_norm else norm(x + sublayer(x))
        return x


class FlatTransformer:
    """Stands in for a `Transformer` in a search: `start` and `step` as it has them, with nobody watching.

    It holds copies of the decoder's weights; the encoder and the embeddings are the model's own. When the weights have
    changed (`is_current` says so), make a new one.
    """

    def __init__(self, model: Transformer):
        self.model = model
        self.config, self.output = model.config, model.output
        self.start: Callable[[Tensor], DecoderState] = model.start
        pre_norm = model.config.norm == "pre"
        with torch.no_grad():
            self.layers = [FlatLayer(layer, pre_norm) for layer in model.decoder.layers]
            self.norm = None if model.decoder.norm is None else norm(model.decoder.norm)
            self.projection = multiplied(model.output.weight.detach(), None)  # D -> V
        copied = [*model.decoder.parameters(), model.output.weight]
        self._copied = [(weight, weight.data_ptr(), writes(weight)) for weight in copied]

    def is_current(self) -> bool:
        """Whether the model's weights are still those that were copied: in the same place, and never written since."""
        return all(w.data_ptr() == place and writes(w) == count != -1 for w, place, count in self._copied)

    @property
    def training(self) -> bool:
        """Whether the model is in training mode."""
        return self.model.training

    def step(self, tokens: Tensor, state: DecoderState) -> Tensor:
        """One decoding step: the newest piece of each row, tokens (R) -> logits (R, V) of the next."""
        decoder, past = self.model.decoder, state.past
        embedding = decoder.embedding
        position = embedding.positions(1, past.length).to(self.output.weight.dtype)  # (1, D), or (1, 1) of zeros
        x = torch.add(position, torch.embedding(embedding.tokens.weight, tokens), alpha=embedding.scale)  # (R, D)
        past.length += 1
        mask = step_mask(past.length, decoder.window, tokens.device)  # (1, 1, 1, K)
        past_bias = None if mask is None else bias(mask, x)  # (1, 1, 1, K)
        source_bias = bias(state.source_mask, x)  # (B, 1, 1, S)
        for layer, cache in zip(self.layers, state.layers, strict=True):
            x = layer.step(x, cache, past_bias, source_bias)
        if self.norm is not None:
            x = self.norm(x)
        return self.projection(x)  # (R, V)


def writes(weight: Tensor) -> int:
    """How often it was written to; -1: of a tensor made in inference mode, torch does not count that."""
    return -1 if weight.is_inference() else weight._version


def affine(*linears: nn.Linear) -> Affine | PackedAffine:
    """Several maps of the same input, side by side, as one."""
    weight = torch.cat([linear.weight.detach() for linear in linears])  # (out, in)
    return multiplied(weight, torch.cat([linear.bias.detach() for linear in linears]))


def multiplied(weight: Tensor, bias: Tensor | None) -> Affine | PackedAffine:
    """The map with copies of weight (out, in) and bias (out), in the form that is the fastest where they lie."""
    if weight.is_cpu and weight.dtype == torch.bfloat16 and torch.ops.mkldnn._is_mkldnn_bf16_supported():
        return PackedAffine(torch.ops.mkldnn._reorder_linear_weight(weight, 1), bias)
    return Affine(weight.t().contiguous(), bias)


def norm(module: nn.LayerNorm) -> Norm:
    """Its weights and its epsilon."""
    return Norm(module.weight.detach().clone(), module.bias.detach().clone(), module.eps)


def bias(mask: Tensor, like: Tensor) -> Tensor:
    """What is added to the scores: 0 where a query may look, -inf elsewhere. The mask's shape, the dtype of `like`."""
    return like.new_zeros(mask.shape).masked_fill_(~mask, -math.inf)


def attend(query: Tensor, key: Tensor, value: Tensor, bias: Tensor | None) -> Tensor:
    """Equation 1 for one query or a few: (B, H, Q, E) at keys and values (B, H, K, E) -> (B, H, Q, E).

    For many rows of one query the fused kernel takes about twice as long on a CPU as two products and a softmax; for a
    few rows it is the faster one (torch 2.13).
    """
    rows, _, queries, width = query.shape
    if not query.is_cpu or rows * queries < 32:
        return scaled_dot_product_attention(query, key, value, bias)  # (B, H, Q, E)
    scores = (query / math.sqrt(width)) @ key.transpose(-2, -1)  # (B, H, Q, K)
    if bias is not None:
        scores += bias
    return scores.softmax(dim=-1) @ value  # (B, H, Q, E)
