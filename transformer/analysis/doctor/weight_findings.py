"""What can be seen in the weights and the configuration alone, whatever the sentence.

A unit of the feed-forward network (section 3.3) is max(0, w.x + b), and x comes out of a LayerNorm: x = g * z + c, with
z of mean 0 and length sqrt(d_model). Over all directions of z, w.x + b therefore has the mean w.c + b and the deviation
|w * g| (its mean taken away). A unit whose mean lies many deviations below 0 is 0 for every sentence: it is dead, and
no gradient will ever reach it again.
"""

import math
from collections.abc import Iterator

import torch
from torch import Tensor, nn

from transformer.analysis.doctor.finding import Finding, listed
from transformer.model import Transformer
from transformer.model.layers import DecoderLayer, EncoderLayer

# A LayerNorm's gain starts at 1; in models that translate well the largest is 1 to 5.
LARGEST_GAIN = 30.0
# A normal variable lies 7 deviations out once in 10^12; the most silent units of the en-de that ships lie at 4.2.
DEAD_DEVIATIONS = 7.0
# A few dead units are common, and cost nothing but memory; from a quarter of a layer on it is narrower than it says.
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
            "Weights that are no numbers",
            f"{len(broken)} of {len(ranges)} tensors hold infinities or values that are no numbers: {listed(broken)}.",
            "Training has diverged. Take an earlier checkpoint, lower training.peak_rate or set training.clip_norm.",
        )
    # A bias may be 0 and so may the row of a piece, but no whole matrix, and no LayerNorm's gain.
    matrices = [name for name, weight in model.named_parameters() if weight.dim() > 1 or name.endswith("norm.weight")]
    zero = [name for name in matrices if ranges[name] == [0.0, 0.0]]
    if zero:
        yield Finding(
            "zero_weights",
            "Weights that are all zero",
            f"{len(zero)} of {len(matrices)} matrices are all zero: {listed(zero)}.",
            "What passes through them is lost. The file was made wrongly, or they never got a gradient.",
        )


def _mask(model: Transformer) -> Iterator[Finding]:
    if not model.config.causal_training:
        yield Finding(
            "no_causal_mask",
            "Trained without the causal mask",
            "In training each position of the decoder saw the piece that it had to predict (model.causal_training = "
            "false), so it learnt to copy it. In decoding that piece is not there yet.",
            "Its training loss is wonderful and its translations are not; that is what it is for. Train anew with the "
            "mask for one that translates.",
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
            "LayerNorm gains have exploded",
            f"The gain of {worst} reaches {large[worst]:,.0f}; it starts at 1. In "
            f"{len(large)} of {len(gains)} LayerNorms there are gains beyond {LARGEST_GAIN:.0f}.",
            "Training is about to diverge. Lower training.peak_rate, or set training.clip_norm.",
        )


def _dead_units(model: Transformer) -> Iterator[Finding]:
    if model.config.activation != "relu":  # the others let a little through wherever they stand
        return
    dead = {name: _dead(norm, hidden) for name, norm, hidden in _feed_forwards(model)}
    sick = {name: share for name, share in dead.items() if share > DEAD_SHARE}
    if sick:
        worst = max(sick, key=lambda name: sick[name])
        yield Finding(
            "dead_units",
            "Dead feed-forward units",
            f"{sick[worst]:.0%} of the {model.config.d_ff:,} units of {worst} are 0 for every sentence; in "
            f"{len(sick)} of {len(dead)} layers more than {DEAD_SHARE:.0%} are.",
            "They do not come back to life: train anew with a lower training.peak_rate or a longer warm-up.",
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
    """The share of units that are never above 0."""
    scaled = hidden.weight * norm.weight  # (F, D)
    deviation = (scaled - scaled.mean(dim=1, keepdim=True)).norm(dim=1)  # (F)
    mean: Tensor = hidden.weight @ norm.bias + hidden.bias  # (F)
    return float((mean < -DEAD_DEVIATIONS * deviation).float().mean())
