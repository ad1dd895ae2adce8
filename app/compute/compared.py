"""Compares two translations, which may be of two sentences, by two models or by two searches."""

from dataclasses import astuple, dataclass
from difflib import SequenceMatcher

import numpy as np
import streamlit as st

from app.compute import cached_results
from app.compute.cached_results import CACHE_LIFETIME, Attention, Ids
from app.compute.subject import Subject
from transformer.analysis.head_matching import match_heads
from transformer.decoding.translation import Hypothesis
from transformer.model.attention_kinds import KINDS, Kind


@dataclass(frozen=True)
class Compared:
    """Two translations, compared by the texts of their tokens, because two models may have different ids for them."""

    one: Hypothesis
    other: Hypothesis

    @property
    def changed(self) -> tuple[tuple[bool, ...], tuple[bool, ...]]:
        """For each token of one translation, then of the other: whether it has no counterpart in the other one."""
        gone, new = [True] * len(self.one.tokens), [True] * len(self.other.tokens)
        matcher = SequenceMatcher(None, self.one.tokens, self.other.tokens, autojunk=False)
        for start, place, size in matcher.get_matching_blocks():
            gone[start : start + size] = new[place : place + size] = [False] * size
        return tuple(gone), tuple(new)

    @property
    def first_difference(self) -> int | None:
        """The first step at which the two are different, from 0; None: they are equal."""
        one, other = self.one.tokens, self.other.tokens
        if one == other:
            return None
        pairs = enumerate(zip(one, other, strict=False))
        return next((step for step, (mine, its) in pairs if mine != its), min(len(one), len(other)))


@dataclass(frozen=True)
class HeadChange:
    """A head of the second model. Layers and heads count from 0.

    Attributes:
        partner: layer and head of the first model with which it is compared; None: no head is left for it.
        moved: how much of its weight is on other tokens than in its partner, 0 to 1: the mean over its rows.
    """

    kind: Kind
    layer: int
    head: int
    partner: tuple[int, int] | None
    moved: float


@dataclass(frozen=True)
class Reading:
    """A model and what it reads: `source_ids` the encoder, `target_ids` the decoder, see `cached_results`."""

    subject: Subject
    source_ids: Ids
    target_ids: Ids

    def attention(self, kind: Kind) -> Attention:
        return cached_results.attention(self.subject, self.source_ids, self.target_ids, kind)


@st.cache_data(max_entries=64, ttl=CACHE_LIFETIME, show_spinner=False)
def head_changes(one: Reading, other: Reading) -> list[HeadChange]:
    """Compares the heads of `other` with those of `one`. Both must read the same number of tokens. The head that
    changes most is first; heads without a partner are last.

    In the same checkpoint, a head is compared with the head of the same layer and number. Heads of two checkpoints are
    matched by similarity, see `transformer.analysis.head_matching`.
    """
    found = []
    for kind in KINDS:
        before, after = (each.attention(kind).weights for each in (one, other))
        if one.subject.file == other.subject.file:
            moved = np.abs(after - before).sum(axis=-1).mean(axis=-1) / 2  # (L, H)
            found += [
                HeadChange(kind, layer, head, (layer, head), float(value))
                for (layer, head), value in np.ndenumerate(moved)
            ]
        else:
            found += [HeadChange(kind, *astuple(match)) for match in match_heads(after, before)]
    return sorted(found, key=lambda change: (change.partner is None, -change.moved))
