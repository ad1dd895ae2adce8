"""Findings in the weights and the configuration alone.

A unit of the feed-forward network (section 3.3) is max(0, w.x + b), and x is the output of a LayerNorm: x = g * z + c,
with z of mean 0 and length sqrt(d_model). Over all directions of z, w.x + b therefore has the mean w.c + b and the
standard deviation |v - mean(v)| with v = w * g. A unit whose mean is many deviations below 0 is 0 for every sentence:
it is dead, and its gradient is always 0."""

import math
from collections.abc import Iterator

import torch
from torch import Tensor, nn

from transformer.analysis.doctor.finding import Finding, listed
from transformer.model import Transformer
from transformer.model.layers import DecoderLayer, EncoderLayer

# A LayerNorm's gain starts at 1; in models that translate well the largest is 1 to 5.
LARGEST_GAIN = 30.0
# A normal variable exceeds 7 deviations once in 10^12. In the included en-de no mean is below -4.2 deviations.
DEAD_DEVIATIONS = 7.0
# A few dead units are common and harmless; a quarter of a layer reduces its capacity.
DEAD_SHARE = 0.25


@torch.inference_mode()
def examine_weights(model: Transformer) -> list[Finding]:
    """Findings in the weights of a model."""
    return [*_numbers(model), *_mask(model), *_gains(model), *_dead_units(model)]


def _numbers(model: Transformer) -> Iterator[Finding]:
    ranges = {name: [float(end) for end in weight.aminmax()] for name, weight in model.named_parameters()}
    broken = [name for name, ends in ranges.items() if not all(map(math.isfinite, ends))]
    if broken:
        yield Finding(
            "not_finite",
            "Weights that are not finite",
            f"{len(broken)} of {len(ranges)} tensors have infinities or NaN: {listed(broken)}.",
            "Training has diverged. Take an earlier checkpoint, lower training.peak_rate or set training.clip_norm.",
        )
    # A bias or the row of a token may be all 0, but not a whole matrix or the gain of a LayerNorm.
    matrices = [name for name, weight in model.named_parameters() if weight.dim() > 1 or name.endswith("norm.weight")]
    zero = [name for name in matrices if ranges[name] == [0.0, 0.0]]
    if zero:
        yield Finding(
            "zero_weights",
            "Weights that are all zero",
            f"{len(zero)} of {len(matrices)} matrices are all zero: {listed(zero)}.",
            "Their output is always 0. The file is wrong, or they never had a gradient.",
        )


def _mask(model: Transformer) -> Iterator[Finding]:
    if not model.config.causal_training:
        yield Finding(
            "no_causal_mask",
            "Trained without the causal mask",
            "In training each position of the decoder attended to the token that it had to predict "
            "(model.causal_training = false), so it learned to copy it. In decoding that token does not exist yet.",
            "Its training loss is low and its translations are wrong. Train with the mask for a model that translates.",
        )


def _gains(model: Transformer) -> Iterator[Finding]:
    gains = {
        name: float(module.weight.abs().max())
        for name, module in model.named_modules()
        if isinstance(module, nn.LayerNorm)
    }
    large = {name: gain for name, gain in gains.items() if gain > LARGEST_GAIN}
    if large:
        worst = max(large, key=lambda name: large[name])
        yield Finding(
            "large_gains",
            "LayerNorm gains are too large",
            f"The gain of {worst} reaches {large[worst]:,.0f}; it starts at 1. In "
            f"{len(large)} of {len(gains)} LayerNorms there are gains above {LARGEST_GAIN:.0f}.",
            "Training is about to diverge. Lower training.peak_rate, or set training.clip_norm.",
        )


def _dead_units(model: Transformer) -> Iterator[Finding]:
    if model.config.activation != "relu":  # the other activations have no units that are always exactly 0
        return
    dead = {name: _dead(norm, hidden) for name, norm, hidden in _feed_forwards(model)}
    affected = {name: share for name, share in dead.items() if share > DEAD_SHARE}
    if affected:
        worst = max(affected, key=lambda name: affected[name])
        yield Finding(
            "dead_units",
            "Dead feed-forward units",
            f"{affected[worst]:.0%} of the {model.config.d_ff:,} units of {worst} are 0 for every sentence; in "
            f"{len(affected)} of {len(dead)} layers more than {DEAD_SHARE:.0%} are.",
            "They do not recover: train again with a lower training.peak_rate or a longer warm-up.",
        )


def _feed_forwards(model: Transformer) -> Iterator[tuple[str, nn.LayerNorm, nn.Linear]]:
    """(name, the LayerNorm before it, W_1) of each feed-forward network."""
    layer: EncoderLayer | DecoderLayer
    for i, layer in enumerate(model.encoder.layers):
        before = layer.feed_forward_residual if model.config.norm == "pre" else layer.self_attention_residual
        yield f"encoder layer {i + 1}", before.norm, layer.feed_forward.hidden
    for i, layer in enumerate(model.decoder.layers):
        before = layer.feed_forward_residual if model.config.norm == "pre" else layer.cross_attention_residual
        yield f"decoder layer {i + 1}", before.norm, layer.feed_forward.hidden


def _dead(norm: nn.LayerNorm, hidden: nn.Linear) -> float:
    """The share of units that are always 0."""
    scaled = hidden.weight * norm.weight  # (F, D)
    deviation = (scaled - scaled.mean(dim=1, keepdim=True)).norm(dim=1)  # (F)
    mean: Tensor = hidden.weight @ norm.bias + hidden.bias  # (F)
    return float((mean < -DEAD_DEVIATIONS * deviation).float().mean())
