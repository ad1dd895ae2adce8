"""Two translations beside each other, which may be of two sentences, two models or two searches."""

from dataclasses import dataclass
from difflib import SequenceMatcher

import numpy as np

from app.compute import cached_results
from app.compute.cached_results import Ids
from app.compute.subject import Subject
from transformer.decoding.translation import Hypothesis
from transformer.model.attention_kinds import KINDS, Kind


@dataclass(frozen=True)
class Compared:
    """Two translations, compared by the texts of their tokens: two models may number them differently."""

    one: Hypothesis
    other: Hypothesis

    @property
    def changed(self) -> tuple[tuple[bool, ...], tuple[bool, ...]]:
        """By token of each, whether the other has none for it."""
        gone, new = [True] * len(self.one.pieces), [True] * len(self.other.pieces)
        matcher = SequenceMatcher(None, self.one.pieces, self.other.pieces, autojunk=False)
        for start, place, size in matcher.get_matching_blocks():
            gone[start : start + size] = new[place : place + size] = [False] * size
        return tuple(gone), tuple(new)

    @property
    def parts_at(self) -> int | None:
        """The first step at which the two are different, from 0; None: they are equal."""
        one, other = self.one.pieces, self.other.pieces
        if one == other:
            return None
        pairs = enumerate(zip(one, other, strict=False))
        return next((step for step, (mine, its) in pairs if mine != its), min(len(one), len(other)))


@dataclass(frozen=True)
class HeadChange:
    """How much of a head's weight is on other tokens, 0 to 1: the mean over its rows. Layer and head count from 0."""

    kind: Kind
    layer: int
    head: int
    moved: float


def head_changes(one: Subject, other: Subject, source_ids: Ids, target_ids: Ids) -> list[HeadChange]:
    """All heads of a model and of the same one with edits, over the same tokens; the one that changes most first."""
    found = []
    for kind in KINDS:
        before, after = (
            cached_results.attention(each, source_ids, target_ids, kind).weights.astype(np.float64)
            for each in (one, other)
        )
        moved = np.abs(after - before).sum(axis=-1).mean(axis=-1) / 2  # (layers, heads)
        found += [HeadChange(kind, layer, head, float(value)) for (layer, head), value in np.ndenumerate(moved)]
    return sorted(found, key=lambda change: -change.moved)
