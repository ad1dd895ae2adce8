"""The stream of every token as the browser draws it: the vector after each sub-layer, and what the sub-layer added.

The components of the vectors are sent as indices of 256 colours; lengths, angles and differences are computed from the
exact numbers. In a pre-norm model the vector after a sub-layer is the sum, so the last vector is the embedding plus
everything that the sub-layers added. In a post-norm model the vector is the output of LayerNorm for the sum (paper,
section 3.1).

Of a vector after a sub-layer, only the rest is sent: its indices minus those of the vector before and of what was
added. In a pre-norm model the rest is nearly the same everywhere, so it takes few bytes in the compressed message.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from app.figures.axes import TokenAxis, in_words
from app.figures.tensor import row_norms
from app.figures.theme import CHOSEN, color_limit, role_color, signed_scale
from app.views.residual.stream import Stream, cosines, summands
from transformer.analysis.edits.checks import Stack

COLORS = 256


def flow(
    streams: dict[str, tuple[Stream, TokenAxis]],
    unedited: Mapping[Stack, Stream],
    *,
    pre_norm: bool,
    starts: Mapping[Stack, Sequence[str]],
) -> dict[str, Any]:
    """Data of the component `residual_flow`, for both stacks.

    Args:
        unedited: the streams of the original model for the same tokens; empty if nothing is edited.
        starts: what the stream of each token starts with, in words.
    """
    stacks = {name: _stack(every, tokens, pre_norm=pre_norm) for name, (every, tokens) in streams.items()}
    for name, every in unedited.items():
        stacks[name]["lengthsBefore"] = _lengths(vectors(every, pre_norm=pre_norm))
    for stack, words in starts.items():
        stacks[stack]["starts"] = list(words)
    return {"stacks": stacks, "preNorm": pre_norm, "scale": signed_scale(), "chosen": CHOSEN}


def vectors(every: Stream, *, pre_norm: bool) -> np.ndarray:
    """The stream before the first sub-layer and after each sub-layer: (1 + U, R, D)."""
    return np.concatenate([every.before[:1], every.after if pre_norm else every.normed])


def largest_difference(one: Stream, *, pre_norm: bool) -> float:
    """The largest difference, for one token, between a recorded vector and the sum that it should equal.

    Pre-norm: between the last vector and the embedding plus everything that was added. Post-norm: between the input of
    each LayerNorm and the stream before the sub-layer plus what the sub-layer added.
    """
    if pre_norm:
        return float(np.abs(summands(one).astype(np.float64).sum(axis=0) - one.after[-1]).max())
    return float(np.abs(one.kept.astype(np.float64) + one.added - one.after).max())


def _stack(every: Stream, tokens: TokenAxis, *, pre_norm: bool) -> dict[str, Any]:
    found = vectors(every, pre_norm=pre_norm)
    limits = np.array([color_limit(found[:, row]) for row in range(found.shape[1])])  # (R,)
    stream, added = _color_positions(found, limits), _color_positions(every.added, limits)  # (R, 1 + U, D), (R, U, D)
    return {
        "tokens": [in_words(token) for token in tokens.tokens],
        "predicts": [in_words(token) for token in tokens.predicts],
        "color": role_color(tokens.role),
        "parts": [
            {"layer": sub.layer + 1, "part": sub.part, "name": sub.words, "edits": sub.edits} for sub in every.subs
        ],
        "start": stream[:, 0],
        "added": added,
        "rest": stream[:, 1:] - stream[:, :-1] - added,  # of uint8: wraps around, as the sum in the browser does
        "limits": limits.astype(np.float32),
        "lengths": _lengths(found),
        "addedLengths": row_norms(every.added).T.astype(np.float32),  # (R, U)
        "toLast": _angles(found, np.broadcast_to(found[-1], found.shape)).T,
        "toStream": _angles(every.added, every.before).T,
        "replaced": every.replaced.T.astype(np.uint8),  # (R, 1 + U)
    }


def _lengths(found: np.ndarray) -> np.ndarray:
    """(1 + U, R, D) -> (R, 1 + U)."""
    return row_norms(found).T.astype(np.float32)


def _color_positions(values: np.ndarray, limits: np.ndarray) -> np.ndarray:
    """The colour index of each number: (P, R, D) -> (R, P, D). The middle colour means 0."""
    share = np.clip(values / limits[None, :, None], -1, 1)
    return np.round((COLORS - 1) / 2 * (1 + share)).astype(np.uint8).transpose(1, 0, 2)


def _angles(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Angles between pairs of vectors, in degrees: (P, R, D), (P, R, D) -> (P, R); 90 where one of the two is 0."""
    found: np.ndarray = np.degrees(np.arccos(np.clip(cosines(one, other), -1, 1)))
    return found.astype(np.float32)
