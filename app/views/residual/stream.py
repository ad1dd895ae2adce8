"""The residual stream in numbers: how long it is, what each sub-layer adds to it, and what it is made of in the end.

Every sub-layer reads the stream x and adds to it: x + Sublayer(x) (paper, section 3.1). In a pre-norm model nothing
else happens to the stream, so what leaves a stack is exactly a sum:

    x_last = embedding + Sublayer_1 + Sublayer_2 + ...

The share of a summand is its component along x_last, divided by the length of x_last; the shares sum to 1. A post-norm
model normalises the stream after each sub-layer, so there is no such sum. An edit may replace the vector of a token
between two layers (activation patching): the sum then begins with the vector that it puts there.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from app.figures.tensor import row_norms
from app.languages import _, gettext_noop
from transformer.analysis.edits import ResidualOff, SublayerOff, edit_text
from transformer.analysis.edits.checks import Stack, Sublayer

_NAMES: dict[Sublayer, str] = {
    "self_attention": gettext_noop("self-attention"),
    "cross_attention": gettext_noop("encoder-decoder"),
    "feed_forward": gettext_noop("feed-forward"),
}


@dataclass(frozen=True)
class SubLayer:
    """One sub-layer of a stack, `layer` from 0."""

    stack: Stack
    layer: int
    part: Sublayer

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
        where = (self.stack, self.layer, self.part)
        return {"sublayer": edit_text(SublayerOff(*where)), "residual": edit_text(ResidualOff(*where))}


def sub_layers(stack: Stack, layers: int) -> tuple[SubLayer, ...]:
    """The sub-layers of a stack in their order (paper, figure 1)."""
    parts = [part for part in _NAMES if part != "cross_attention" or stack == "decoder"]
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
    replaced: np.ndarray  # (1 + U, R), or (1 + U): where an edit replaces the embedding, or the stream after each

    @property
    def kept(self) -> np.ndarray:
        """What the output of each sub-layer is added to: the stream before it; 0 if it has no residual connection."""
        return self.before * np.reshape(self.connected, (-1, *(1,) * (self.before.ndim - 1)))

    def of(self, row: int) -> "Stream":
        """The stream of one token."""
        before, added, after = self.before[:, row], self.added[:, row], self.after[:, row]
        to_norm, normed = self.to_norm[:, row], self.normed[:, row]
        embedding, replaced = self.embedding[row], self.replaced[:, row]
        return Stream(self.subs, before, added, after, to_norm, normed, embedding, self.connected, replaced)


STREAM_SITES = ("residual_in", "output", "residual_sum", "norm_out", "residual_connection")


def sites_after(subs: tuple[SubLayer, ...], *, pre_norm: bool) -> list[str]:
    """The sites of the stream: of the stack's embedding, and of the new stream after each sub-layer."""
    after = "residual_sum" if pre_norm else "norm_out"
    return [f"{subs[0].stack}.embedding.output", *(f"{sub.site}.{after}" for sub in subs)]


def stream(
    found: Mapping[str, np.ndarray], subs: tuple[SubLayer, ...], *, pre_norm: bool, replaced: np.ndarray
) -> Stream:
    """Makes a `Stream` from recorded tensors: those at `STREAM_SITES` of each sub-layer, and the stack's embedding.

    Args:
        replaced: (1 + U, R), True = an edit replaces this token's vector at this one of the sites of `sites_after`.
    """
    before, added, after, normed, kept = (
        np.stack([found[f"{sub.site}.{name}"] for sub in subs]) for name in STREAM_SITES
    )
    embedding = found[f"{subs[0].stack}.embedding.output"]
    connected = tuple(bool(each.any() or not x.any()) for x, each in zip(before, kept, strict=True))
    return Stream(subs, before, added, after, before if pre_norm else after, normed, embedding, connected, replaced)


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

    If an edit replaces the stream after a sub-layer, the vector that it puts there is in place of the embedding. A
    vector is 0 here if it does not reach the end, because a later sub-layer has no residual connection, or because an
    edit replaces the stream after it.
    """
    found, begins = np.concatenate([one.embedding[None], one.added]), last_replaced(one)
    if begins:
        found[: begins + 1] = 0
        found[0] = one.after[begins - 1]
    if (lost := lost_before(one)) > begins:
        found[:lost] = 0
    return found


def last_replaced(one: Stream) -> int:
    """After how many sub-layers an edit replaces the stream of a token for the last time; 0 if after none of them."""
    return max((int(place) for place in np.flatnonzero(one.replaced)), default=0)


def lost_before(one: Stream) -> int:
    """How many summands, counted from the first one, do not reach the last vector, because a later sub-layer has no
    residual connection (see `summands`)."""
    return max((place + 1 for place, has_it in enumerate(one.connected) if not has_it), default=0)
