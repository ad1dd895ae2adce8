"""The residual stream in numbers: how long it is, what each sub-layer adds to it, and what it is made of in the end.

Every sub-layer reads the stream x and adds to it: x + Sublayer(x) (paper, section 3.1). In a pre-norm model nothing
else happens to the stream, so what leaves a stack is exactly a sum:

    x_last = embedding + Sublayer_1 + Sublayer_2 + ...

The share of a summand is its component along x_last, divided by the length of x_last; the shares sum to 1. A post-norm
model normalises the stream after each sub-layer, so there is no such sum.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from app.figures.tensor import row_norms
from app.figures.theme import Role
from app.languages import _, gettext_noop
from transformer.analysis.edits import ResidualOff, SublayerOff, edit_text

_NAMES = {
    "self_attention": gettext_noop("self-attention"),
    "cross_attention": gettext_noop("encoder-decoder"),
    "feed_forward": gettext_noop("feed-forward"),
}


@dataclass(frozen=True)
class SubLayer:
    """One sub-layer of a stack, `layer` from 0."""

    stack: Role
    layer: int
    part: str

    @property
    def site(self) -> str:
        """The prefix that the names of its sites have in common."""
        return f"{self.stack}.layers.{self.layer}.{self.part}"

    @property
    def name(self) -> str:
        """Its name in the visitor's language, with its layer counted from 1."""
        return f"{self.layer + 1} {self.words}"

    @property
    def words(self) -> str:
        """Its name without its layer."""
        return _(_NAMES[self.part])

    @property
    def attends(self) -> bool:
        return self.part != "feed_forward"

    @property
    def edits(self) -> dict[str, str]:
        """The texts of two edits: "sublayer" takes the sub-layer away, "residual" the residual connection around it."""
        where: tuple[Any, int, Any] = (self.stack, self.layer, self.part)
        return {"sublayer": edit_text(SublayerOff(*where)), "residual": edit_text(ResidualOff(*where))}


def sub_layers(stack: Role, layers: int) -> tuple[SubLayer, ...]:
    """The sub-layers of a stack in their order (paper, figure 1)."""
    parts = ["self_attention", *(["cross_attention"] if stack == "decoder" else []), "feed_forward"]
    return tuple(SubLayer(stack, layer, part) for layer in range(layers) for part in parts)


@dataclass(frozen=True)
class Stream:
    """The stream at each of the U sub-layers of a stack: arrays (U, R, D) for R tokens, or (U, D) for one token."""

    subs: tuple[SubLayer, ...]
    before: np.ndarray
    added: np.ndarray
    after: np.ndarray
    to_norm: np.ndarray  # what LayerNorm reads
    normed: np.ndarray  # what LayerNorm returns
    embedding: np.ndarray  # (R, D), or (D): where the stream begins
    connected: tuple[bool, ...]  # whether each sub-layer has its residual connection; an edit may take it away

    @property
    def kept(self) -> np.ndarray:
        """What the output of each sub-layer is added to: the stream before it; 0 if it has no residual connection."""
        return self.before * np.reshape(self.connected, (-1, *(1,) * (self.before.ndim - 1)))

    def of(self, row: int) -> "Stream":
        """The stream of one token."""
        before, added, after = self.before[:, row], self.added[:, row], self.after[:, row]
        to_norm, normed = self.to_norm[:, row], self.normed[:, row]
        return Stream(self.subs, before, added, after, to_norm, normed, self.embedding[row], self.connected)


STREAM_SITES = ("residual_in", "output", "residual_sum", "norm_out", "residual_connection")


def stream(found: Mapping[str, np.ndarray], subs: tuple[SubLayer, ...], *, pre_norm: bool) -> Stream:
    """Makes a `Stream` from recorded tensors: those at `STREAM_SITES` of each sub-layer, and the stack's embedding."""
    before, added, after, normed, kept = (
        np.stack([found[f"{sub.site}.{name}"] for sub in subs]) for name in STREAM_SITES
    )
    embedding = found[f"{subs[0].stack}.embedding.output"]
    connected = tuple(bool(each.any() or not x.any()) for x, each in zip(before, kept, strict=True))
    return Stream(subs, before, added, after, before if pre_norm else after, normed, embedding, connected)


def cosines(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """The cosine of each pair of rows: (R, D), (R, D) -> (R,), in float64; 0 where a row is 0."""
    dots = np.sum(one.astype(np.float64) * other.astype(np.float64), axis=-1)
    lengths = row_norms(one) * row_norms(other)
    return np.divide(dots, lengths, out=np.zeros_like(dots), where=lengths > 0)


def relative(every: Stream) -> np.ndarray:
    """‖Sublayer(x)‖ / ‖x‖ of each token at each sub-layer: (R, U)."""
    lengths = row_norms(every.before)
    ratios = np.divide(row_norms(every.added), lengths, out=np.zeros_like(lengths), where=lengths > 0)  # (U, R)
    return ratios.T


def shares(summands: np.ndarray) -> np.ndarray:
    """The share of each vector in the sum of all: (N, D) -> (N,), in float64. The shares sum to 1.

    The share of a vector a in the sum x is the component of a along x, divided by the length of x: (a · x) / (x · x); 0
    if x is 0.
    """
    exact = summands.astype(np.float64)
    total = exact.sum(axis=0)  # (D,)
    return exact @ total / ((total @ total) or 1.0)


def summands(one: Stream) -> np.ndarray:
    """The vectors whose sum is the last vector of a pre-norm stack: embedding and what each sub-layer adds, (1 + U, D).

    A vector is 0 here if it does not reach the end, because a later sub-layer has no residual connection.
    """
    found = np.concatenate([one.embedding[None], one.added])
    found[: lost_before(one)] = 0
    return found


def lost_before(one: Stream) -> int:
    """How many summands, counted from the first one, do not reach the last vector (see `summands`)."""
    return max((place + 1 for place, has_it in enumerate(one.connected) if not has_it), default=0)
