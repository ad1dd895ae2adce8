"""One turn of the decoder's loop as a picture: what goes in, what is kept, what comes out and goes in again.

The encoder reads the source once. Each step of the decoder reads one token, the newest; of the earlier ones it has kept
keys and values (the cache), so Q has one row and K and V have as many as tokens were read.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from app.figures.axes import TokenAxis, visible
from app.figures.tables import Table
from app.figures.theme import counted, role_color

BYTES = 4  # of a number in float32


@dataclass(frozen=True)
class Sizes:
    """Of the model, in the alphabet of the design."""

    encoder_layers: int
    layers: int  # of the decoder, N
    heads: int  # H
    d_model: int  # D
    d_k: int  # E
    vocabulary: int  # V


def cached_numbers(sizes: Sizes, positions: int) -> int:
    """Keys and values of so many positions, in all layers and heads of the decoder: 2 N H K d_k."""
    return 2 * sizes.layers * sizes.heads * positions * sizes.d_k


UNITS = ((1e3, "kB"), (1e6, "MB"), (1e9, "GB"))


def bytes_text(count: int) -> str:
    """384 B, 98.3 kB, 1.57 MB."""
    if count < 1000:
        return f"{count} B"
    return next(f"{count / size:.3g} {unit}" for size, unit in UNITS if count < 999.5 * size or unit == "GB")


def loop_picture(
    source: TokenAxis,
    target: TokenAxis,
    step: int,
    sizes: Sizes,
    *,
    looks: tuple[np.ndarray, np.ndarray],
    head: str,
    probability: str,
    hypotheses: int = 1,
) -> dict[str, Any]:
    """The data of the browser component `loop`.

    Args:
        source, target: S tokens the encoder reads; T rows of the decoder.
        step: the row of the decoder, from 0. It has read step + 1 tokens.
        looks: weights of one head in this row: encoder-decoder attention (S), self-attention (step + 1).
        head: which head that is, in words.
        probability: of the token that was chosen, as it is written.
        hypotheses: rows that are decoded side by side at this step.
    """
    read, s, most = step + 1, len(source), int(looks[0].argmax())
    shape = f"2 × N {sizes.layers} × H {sizes.heads}"
    cross, own = cached_numbers(sizes, s), cached_numbers(sizes, read)
    new = cached_numbers(sizes, 1)
    times = f", × {hypotheses} hypotheses" if hypotheses > 1 else ""
    return {
        "colors": {role: role_color(role) for role in ("query", "key", "value", "encoder", "decoder")},
        "source": {
            "caption": f"Source: S = {s} tokens, read once",
            "tokens": [visible(token) for token in source.tokens],
            "weights": [round(float(w), 4) for w in looks[0]],
            "kept": most,  # in sight where not all tokens have room
        },
        "output": {
            "caption": f"Output so far: {read} read, the newest is fed in",
            "tokens": [visible(token) for token in target.tokens[:read]],
            "weights": [round(float(w), 4) for w in looks[1]],
            "kept": step,
        },
        "encoder": [
            f"Encoder, {sizes.encoder_layers} layer{'s' * (sizes.encoder_layers > 1)}",
            f"S × D = {s} × {sizes.d_model}, all rows at once",
        ],
        "decoder": [
            f"Decoder, {sizes.layers} layer{'s' * (sizes.layers > 1)}",
            f"only the newest row: 1 × D = 1 × {sizes.d_model}",
        ],
        "cross": {
            "title": "K and V from the encoder",
            "layers": sizes.layers,
            "filled": s,
            "room": s,
            "newest": -1,
            "lines": [
                f"{shape} × S {s} × d_k {sizes.d_k}",
                f"= {cross:,} numbers, {bytes_text(BYTES * cross)}",
                "made once, the same at every step",
            ],
        },
        "own": {
            "title": "K and V of the output: the cache",
            "layers": sizes.layers,
            "filled": read,
            "room": len(target),
            "newest": step,
            "lines": [
                f"{shape} × {read} read × d_k {sizes.d_k}",
                f"= {own:,} numbers, {bytes_text(BYTES * own)}{times}",
                f"{new:,} of them new at this step",
            ],
        },
        "query": f"Q 1 × {sizes.d_k} a head",
        "logits": f"logits 1 × {sizes.vocabulary:,}",
        "chosen": visible(target.predicts[step]),
        "probability": probability,
        "last": step == len(target) - 1,
        "note": f"Bars under the tokens: where {head} attends to this step.",
        "alt": (
            f"Step {step + 1} of {len(target)}. The decoder reads {visible(target.tokens[step])} and predicts "
            f"{visible(target.predicts[step])} with {probability}. It keeps keys and values of "
            f"{read} positions of the output and {s} of the source, in {counted(sizes.layers, 'layer')}. "
            f"{head.capitalize()} attends most to {visible(source.tokens[most])} of the source, with "
            f"{looks[0][most]:.2f}."
        ),
    }


def cache_table(target: TokenAxis, source_length: int, sizes: Sizes) -> Table:
    """What the cache holds after each step: shapes N x H x rows x d_k, and bytes of keys and values together."""
    steps = range(1, len(target) + 1)
    rows = f"{sizes.layers} × {sizes.heads} × {{}} × {sizes.d_k}"
    return {
        "step": list(steps),
        "reads": list(target.tokens),
        "predicts": list(target.predicts),
        "K and V of the output, each": [rows.format(t) for t in steps],
        "bytes": [BYTES * cached_numbers(sizes, t) for t in steps],
        "K and V from the encoder, each": [rows.format(source_length)] * len(target),
        "bytes, once": [BYTES * cached_numbers(sizes, source_length)] * len(target),
    }


def looks_table(source: TokenAxis, target: TokenAxis, cross: np.ndarray, own: np.ndarray) -> Table:
    """The bars under the tokens as numbers: one head's weights of the source (S) and of what was read (step + 1)."""
    read = target.tokens[: len(own)]
    return {
        "attention": ["encoder-decoder"] * len(source) + ["decoder self"] * len(own),
        "number": [*range(1, len(source) + 1), *range(1, len(own) + 1)],
        "piece": [*source.tokens, *read],
        "weight": np.concatenate([cross, own]),
    }
