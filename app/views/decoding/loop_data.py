"""One turn of the decoder's loop as a picture: its input, its cache, and its output, which is the next input.

The encoder reads the source once. Each step of the decoder reads one token, the newest. The cache has the keys and
values of the earlier tokens, so Q has one row, and K and V have one row for each token that was read.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from app.figures.axes import TokenAxis, in_words
from app.figures.shares import Share
from app.figures.tables import Table
from app.figures.theme import role_color
from app.figures.two_percents import both_in_words, percent
from app.languages import _, ngettext
from app.languages.numbers import formatted

BYTES = 4  # of a number in float32


@dataclass(frozen=True)
class Sizes:
    """The sizes of the model."""

    encoder_layers: int
    layers: int  # of the decoder, N
    heads: int  # H
    d_model: int  # D
    d_k: int  # E
    vocabulary: int  # V


def cached_numbers(sizes: Sizes, positions: int) -> int:
    """How many numbers the keys and values of these positions have, in all layers and heads of the decoder: 2 N H K
    d_k."""
    return 2 * sizes.layers * sizes.heads * positions * sizes.d_k


UNITS = ((1e3, "kB"), (1e6, "MB"), (1e9, "GB"))


def bytes_text(count: int) -> str:
    """A number of bytes with its unit: 384 B, 98.3 kB, 1.57 MB."""
    if count < 1000:
        return f"{count} B"
    return next(
        f"{formatted(count / size, '.3g')} {unit}" for size, unit in UNITS if count < 999.5 * size or unit == "GB"
    )


@dataclass(frozen=True)
class DecodingStep:
    """One step of the decoder.

    Attributes:
        index: the row of the decoder, from 0. It has read index + 1 tokens.
        cross, own: the weights of one head in this row: encoder-decoder attention (S), self-attention (index + 1).
        layer, head: which head that is, from 0.
        probability: of the token that was chosen, and its share of what may be drawn.
        hypotheses: how many are decoded side by side at this step.
    """

    index: int
    cross: np.ndarray
    own: np.ndarray
    layer: int
    head: int
    probability: tuple[float, float]
    hypotheses: int = 1


def loop_picture(source: TokenAxis, target: TokenAxis, step: DecodingStep, sizes: Sizes) -> dict[str, Any]:
    """The data of the browser component `decoding_loop`; source and target are the S tokens that the encoder reads and
    the T rows of the decoder."""
    read, s, most = step.index + 1, len(source), int(step.cross.argmax())
    shape = f"2 × N {sizes.layers} × H {sizes.heads}"
    cross, own = cached_numbers(sizes, s), cached_numbers(sizes, read)
    new = cached_numbers(sizes, 1)
    numbers = _("= {count:,} numbers, {bytes}", count=own, bytes=bytes_text(BYTES * own))
    if step.hypotheses > 1:
        numbers += _(", × {count} hypotheses", count=step.hypotheses)
    return {
        "colors": {role: role_color(role) for role in ("query", "key", "value", "encoder", "decoder")},
        "source": {
            "caption": _("Source: S = {count} tokens, read once", count=s),
            "tokens": [in_words(token) for token in source.tokens],
            "weights": [round(float(w), 4) for w in step.cross],
            "kept": most,  # the token that is shown even if there is no room for all
        },
        "output": {
            "caption": _("Output so far: {count} read, the newest is fed in", count=read),
            "tokens": [in_words(token) for token in target.tokens[:read]],
            "weights": [round(float(w), 4) for w in step.own],
            "kept": step.index,
        },
        "encoder": [
            ngettext("Encoder, {count} layer", "Encoder, {count} layers", sizes.encoder_layers),
            _("S × D = {s} × {d_model}, all rows at once", s=s, d_model=sizes.d_model),
        ],
        "decoder": [
            ngettext("Decoder, {count} layer", "Decoder, {count} layers", sizes.layers),
            _("only the newest row: 1 × D = 1 × {d_model}", d_model=sizes.d_model),
        ],
        "cross": {
            "title": _("K and V from the encoder"),
            "layers": sizes.layers,
            "filled": s,
            "room": s,
            "newest": -1,
            "lines": [
                f"{shape} × S {s} × d_k {sizes.d_k}",
                _("= {count:,} numbers, {bytes}", count=cross, bytes=bytes_text(BYTES * cross)),
                _("made once, the same at every step"),
            ],
        },
        "own": {
            "title": _("K and V of the output: the cache"),
            "layers": sizes.layers,
            "filled": read,
            "room": len(target),
            "newest": step.index,
            "lines": [
                _("{shape} × {count} read × d_k {d_k}", shape=shape, count=read, d_k=sizes.d_k),
                numbers,
                _("{count:,} of them new at this step", count=new),
            ],
        },
        "query": _("Q 1 × {d_k} per head", d_k=sizes.d_k),
        "logits": _("logits 1 × {count:,}", count=sizes.vocabulary),
        "chosen": in_words(target.predicts[step.index]),
        "probability": percent(step.probability[0]),
        "last": step.index == len(target) - 1,
        "note": _(
            "Bars under the tokens: the weights of layer {layer}, head {head} at this step.",
            layer=step.layer + 1,
            head=step.head + 1,
        ),
        "alt": _alt(source, target, step, sizes),
    }


def _alt(source: TokenAxis, target: TokenAxis, step: DecodingStep, sizes: Sizes) -> str:
    """What the picture says, in words."""
    read, most = step.index + 1, int(step.cross.argmax())
    sentences = (
        _(
            "Step {step} of {count}. The decoder reads {token} and predicts {predicted} with {probability}.",
            step=read,
            count=len(target),
            token=in_words(target.tokens[step.index]),
            predicted=in_words(target.predicts[step.index]),
            probability=both_in_words(*step.probability),
        ),
        ngettext(
            "It keeps keys and values of {read} positions of the output and {source} of the source, in "
            "{count:,} layer.",
            "It keeps keys and values of {read} positions of the output and {source} of the source, in "
            "{count:,} layers.",
            sizes.layers,
            read=read,
            source=len(source),
        ),
        _(
            "Layer {layer}, head {head} attends most to {token} of the source, with {weight:.2f}.",
            token=in_words(source.tokens[most]),
            weight=Share(step.cross[most]),
            layer=step.layer + 1,
            head=step.head + 1,
        ),
    )
    return " ".join(sentences)


def cache_table(target: TokenAxis, source_length: int, sizes: Sizes) -> Table:
    """What the cache holds after each step: shapes N x H x rows x d_k, and bytes of keys and values together."""
    steps = range(1, len(target) + 1)
    rows = f"{sizes.layers} × {sizes.heads} × {{}} × {sizes.d_k}"
    return {
        _("step"): list(steps),
        _("reads"): list(target.tokens),
        _("predicts"): list(target.predicts),
        _("K and V of the output, each"): [rows.format(t) for t in steps],
        _("bytes"): [BYTES * cached_numbers(sizes, t) for t in steps],
        _("K and V from the encoder, each"): [rows.format(source_length)] * len(target),
        _("bytes, once"): [BYTES * cached_numbers(sizes, source_length)] * len(target),
    }


def weights_table(source: TokenAxis, target: TokenAxis, cross: np.ndarray, own: np.ndarray) -> Table:
    """The bars under the tokens as numbers: one head's weights of the source (S) and of what was read (step + 1)."""
    read = target.tokens[: len(own)]
    return {
        _("attention"): [_("encoder-decoder")] * len(source) + [_("decoder self")] * len(own),
        _("number"): [*range(1, len(source) + 1), *range(1, len(own) + 1)],
        _("token"): [*source.tokens, *read],
        _("weight"): np.concatenate([cross, own]),
    }
