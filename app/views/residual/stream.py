"""The residual stream in numbers: how long it is, what each sub-layer adds to it, and what it is made of in the end.

Every sub-layer reads the stream x and adds to it: x + Sublayer(x) (paper, section 3.1). In a pre-norm model nothing
else happens to the stream, so what leaves a stack is exactly a sum,

    x_last = embedding + Sublayer_1 + Sublayer_2 + ...

and each summand's share of it is its component along x_last, over the length of x_last; the shares sum to 1. A
post-norm model normalises the stream after each sub-layer, and there is no such sum.
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
        """What its sites begin with."""
        return f"{self.stack}.layers.{self.layer}.{self.part}"

    @property
    def name(self) -> str:
        """For people: layers from 1, in the visitor's language."""
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
        """The texts of the edits that take the sub-layer away, or the pass around it."""
        where: tuple[Any, int, Any] = (self.stack, self.layer, self.part)
        return {"sublayer": edit_text(SublayerOff(*where)), "pass": edit_text(ResidualOff(*where))}


def sub_layers(stack: Role, layers: int) -> tuple[SubLayer, ...]:
    """The sub-layers of a stack in their order (paper, figure 1)."""
    parts = ["self_attention", *(["cross_attention"] if stack == "decoder" else []), "feed_forward"]
    return tuple(SubLayer(stack, layer, part) for layer in range(layers) for part in parts)


@dataclass(frozen=True)
class Stream:
    """The stream at each of its U sub-layers, of R tokens or of one: arrays of (U, R, D), or (U, D)."""

    subs: tuple[SubLayer, ...]
    before: np.ndarray
    added: np.ndarray
    after: np.ndarray
    to_norm: np.ndarray  # what LayerNorm reads
    normed: np.ndarray  # what it gives
    embedding: np.ndarray  # (R, D), or (D): where the stream begins
    passes: tuple[bool, ...]  # whether the stream passes around each sub-layer; an edit may prevent it

    @property
    def passed(self) -> np.ndarray:
        """What the output of each sub-layer is added to: the stream before it, or 0."""
        return self.before * np.reshape(self.passes, (-1, *(1,) * (self.before.ndim - 1)))

    def of(self, row: int) -> "Stream":
        """The same of one token."""
        before, added, after = self.before[:, row], self.added[:, row], self.after[:, row]
        to_norm, normed = self.to_norm[:, row], self.normed[:, row]
        return Stream(self.subs, before, added, after, to_norm, normed, self.embedding[row], self.passes)


STREAM_SITES = ("residual_in", "output", "residual_sum", "norm_out", "residual_connection")


def stream(found: Mapping[str, np.ndarray], subs: tuple[SubLayer, ...], *, pre_norm: bool) -> Stream:
    """Puts recorded tensors together: those of `STREAM_SITES` of each sub-layer, and the stack's embedding."""
    before, added, after, normed, passed = (
        np.stack([found[f"{sub.site}.{name}"] for sub in subs]) for name in STREAM_SITES
    )
    embedding = found[f"{subs[0].stack}.embedding.output"]
    passes = tuple(bool(each.any() or not x.any()) for x, each in zip(before, passed, strict=True))
    return Stream(subs, before, added, after, before if pre_norm else after, normed, embedding, passes)


def cosines(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Of each pair of rows: (R, D), (R, D) -> (R,), in float64; 0 where a row is 0."""
    dots = np.sum(one.astype(np.float64) * other.astype(np.float64), axis=-1)
    lengths = row_norms(one) * row_norms(other)
    return np.divide(dots, lengths, out=np.zeros_like(dots), where=lengths > 0)


def relative(every: Stream) -> np.ndarray:
    """‖Sublayer(x)‖ / ‖x‖ of each token at each sub-layer: (R, U)."""
    lengths = row_norms(every.before)
    ratios = np.divide(row_norms(every.added), lengths, out=np.zeros_like(lengths), where=lengths > 0)  # (U, R)
    return ratios.T


def shares(summands: np.ndarray) -> np.ndarray:
    """How much of their sum each of these vectors is: (N, D) -> (N,), in float64, which sum to 1.

    The component of each along the sum x, over the length of x: (a · x) / (x · x); 0 if the sum is 0.
    """
    exact = summands.astype(np.float64)
    total = exact.sum(axis=0)  # (D,)
    return exact @ total / ((total @ total) or 1.0)


def summands(one: Stream) -> np.ndarray:
    """What the last stream of a pre-norm model is the sum of: the embedding, and what is added: (1 + U, D).

    0 for what is lost because nothing passes around a later sub-layer.
    """
    found = np.concatenate([one.embedding[None], one.added])
    found[: lost_before(one)] = 0
    return found


def lost_before(one: Stream) -> int:
    """How many of the summands, from the first, do not reach the last vector."""
    return max((place + 1 for place, passes in enumerate(one.passes) if not passes), default=0)
