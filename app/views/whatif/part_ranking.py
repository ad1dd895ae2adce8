"""How much each head and each sub-layer matters for a sentence: what its translation loses when that part is off.

The translation is the one by the original model, which every pass reads (teacher forcing). What it loses is measured in
nats: its log-probability by the original model less that by the model without the part.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from app.compute import cached_results
from app.compute.row_predictions import forced
from app.figures.tables import Table
from app.stage.edit_words import edit_words
from app.stage.scene import Scene
from transformer.analysis.each_edit import parts_by_layer
from transformer.analysis.edits import Edit, HeadOff, SublayerOff

LITTLE = 0.05  # nats: a head that costs less hardly matters
QUICK = 1.5e11  # parts x tokens x parameters: up to here all are ranked when the page opens, in about 2 s on one core


@dataclass(frozen=True)
class Ranking:
    """What the translation loses without each part, in nats; below 0 where it gains."""

    lost: Mapping[HeadOff | SublayerOff, float]

    @property
    def heads(self) -> list[tuple[HeadOff, float]]:
        """All heads, the one that costs most first."""
        found = [(part, lost) for part, lost in self.lost.items() if isinstance(part, HeadOff)]
        return sorted(found, key=lambda pair: -pair[1])

    @property
    def cheap(self) -> tuple[HeadOff, ...]:
        """The heads that cost less than `LITTLE`."""
        return tuple(head for head, lost in self.heads if lost < LITTLE)


def is_quick(scene: Scene) -> bool:
    """Whether all parts are ranked in so little time that nobody has to ask for it."""
    tokens = len(scene.translation.source_ids) + len(scene.hypothesis.ids)
    parts = sum(map(len, parts_by_layer(scene.config)))
    return parts * tokens * scene.subject.original.translator.model.parameter_count <= QUICK


def rank(scene: Scene, progress: Callable[[int, int], None]) -> Ranking:
    """Switches each part of the original model off in turn; computed once and kept.

    Args:
        progress: is told how many layers are done, and of how many.
    """
    original = scene.subject.original
    source_ids, best = scene.translation.source_ids, scene.best(original)
    whole = sum(best.log_probabilities)
    layers = list(parts_by_layer(scene.config))
    lost: dict[HeadOff | SublayerOff, float] = {}
    for done, parts in enumerate(layers):
        progress(done, len(layers))
        found = cached_results.with_each_edit(original, source_ids, best.ids, parts).sum(axis=-1)
        lost |= {part: whole - float(row) for part, row in zip(parts, found, strict=True)}
    return Ranking(lost)


def lost_together(scene: Scene, edits: tuple[Edit, ...]) -> float:
    """What the translation loses with all of these edits at once."""
    original = scene.subject.original
    best, without = scene.best(original), original.edited(*edits)
    return sum(best.log_probabilities) - forced(without, scene.translation.source_ids, best.ids).score


def ranking_table(ranking: Ranking) -> Table:
    """A row a part, the one that costs most first."""
    parts = sorted(ranking.lost.items(), key=lambda pair: -pair[1])
    return {
        "switched off": [edit_words(part).removesuffix(" off") for part, _ in parts],
        "nats lost": [lost for _, lost in parts],
    }
