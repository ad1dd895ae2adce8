"""How much each change of the encoder's positions matters for a sentence: what its translation loses, in nats.

As for heads (`part_ranking`), every pass reads the translation by the original model, and has only one change.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from app.compute import cached_results
from app.compute.outcomes import outcome
from app.figures.head_sharpness import carries_no_word
from app.figures.tables import Table
from app.figures.tokens_to_words import words_of
from app.languages import _
from app.stage.edit_words import edit_words
from app.stage.scene import Scene
from app.views.shared.word_orders import Order, reordered
from app.views.whatif.part_ranking import QUICK
from transformer.analysis.edits import PositionsOff, PositionsShifted, PositionsShuffled, PositionsSwapped, edit_text

PositionEdit = PositionsOff | PositionsShifted | PositionsShuffled | PositionsSwapped
Reordering = PositionsShuffled | PositionsSwapped
KINDS = (PositionsOff, PositionsShifted, PositionsShuffled, PositionsSwapped)
SHIFTS = (1, 2, 5, 10, 20, 50, 100)
SEEDS = 5
DRAWN = 40  # seeds that are drawn; of those that change the order, the first `SEEDS` are taken
TRIED = 4  # at most so many swaps are tried to find one that changes the translation


@dataclass(frozen=True)
class Lost:
    """What the translation loses by each change, in nats; below 0 where it gains.

    Attributes:
        others: all changes but swaps. They can be made even if they were not measured.
        nats: of the changes that were measured.
        farthest: swaps of tokens up to so many places apart were measured.
    """

    others: tuple[PositionEdit, ...]
    nats: Mapping[PositionEdit, float]
    farthest: int

    def of(self, edit: PositionEdit) -> float | None:
        """What the translation loses by this change; None if that was not measured."""
        return self.nats.get(edit)


def lost_by_order(scene: Scene) -> Lost:
    """Measures the changes on the original model: swaps of neighbours first, and as many swaps as take about 2 s."""
    subject, source_ids = scene.subject.original, scene.translation.source_ids
    size, most = len(source_ids), scene.config.max_positions
    shifts = [PositionsShifted(by) for by in SHIFTS if by + size <= most]
    seeds = shuffles(source_ids)
    others: tuple[PositionEdit, ...] = (*shifts, *seeds, PositionsOff())
    best = scene.best(subject)
    affordable = int(QUICK / subject.translator.model.parameter_count / (size + len(best.ids)))
    if affordable < len(others):
        return Lost(others, {}, 0)
    swaps: list[PositionsSwapped] = []
    farthest = 0
    while farthest < size - 1 and len(others) + len(swaps) + size - farthest - 1 <= affordable:
        farthest += 1
        swaps += [PositionsSwapped(first, first + farthest) for first in range(size - farthest)]
    edits: tuple[PositionEdit, ...] = (*others, *swaps)
    texts = tuple(edit_text(edit) for edit in edits)
    found = cached_results.with_each_edit(subject, source_ids, best.ids, texts).sum(axis=-1)
    return Lost(others, dict(zip(edits, sum(best.log_probabilities) - found, strict=True)), farthest)


def shuffles(source_ids: Sequence[int]) -> list[PositionsShuffled]:
    """The first `SEEDS` shuffles that give the tokens a new order, all different; fewer if there are not so many."""
    seen, found = {tuple(source_ids)}, []
    for edit in map(PositionsShuffled, range(1, DRAWN + 1)):
        ids = reordered(source_ids, _typed(edit, len(source_ids)))
        if ids not in seen:
            found.append(edit)
        seen.add(ids)
    return found[:SEEDS]


def striking(scene: Scene, lost: Lost) -> Reordering:
    """The swap of two words that costs most among those that change the translation; a shuffle if no swap was measured.

    If none of the `TRIED` swaps that cost most changes the translation, it is the first of them. Words of several
    tokens, punctuation and two equal tokens are swapped only if there are no other swaps, because that says little.
    """
    tokens = scene.source.tokens
    whole = {group[0] for group in words_of(tokens) if len(group) == 1 and not carries_no_word(tokens[group[0]])}
    swaps = [edit for edit in lost.nats if isinstance(edit, PositionsSwapped)]
    different = [edit for edit in swaps if tokens[edit.first] != tokens[edit.second]]
    between_words = [edit for edit in different if {edit.first, edit.second} <= whole]
    ranked = sorted(between_words or different or swaps, key=lambda edit: -lost.nats[edit])
    for edit in islice(ranked, TRIED):
        found = outcome(scene.subject.original.edited(edit), scene.translation.source, scene.translation.settings)
        if found.compared.first_difference is not None:
            return edit
    return ranked[0] if ranked else next(edit for edit in lost.others if isinstance(edit, PositionsShuffled))


def order_of(scene: Scene, edit: Reordering) -> Order:
    """The order in which the words would have to be typed for the same effect: which token is at each place, from 0."""
    return _typed(edit, len(scene.translation.source_ids))


def _typed(edit: Reordering, length: int) -> Order:
    return tuple(np.argsort(edit.order(length)).tolist())


def order_table(lost: Lost) -> Table:
    """One row per change, the one that costs most first."""
    ranked = sorted(lost.nats.items(), key=lambda pair: -pair[1])
    return {_("change"): [edit_words(edit) for edit, nats in ranked], _("nats lost"): [nats for edit, nats in ranked]}
