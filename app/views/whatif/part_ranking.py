"""How much each head and each sub-layer matters for a sentence: what its translation loses when that part is off.

Every pass reads the translation by the original model (teacher forcing). What the translation loses is measured in
nats: its log-probability by the original model minus that by the model without the part.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from app.compute import cached_results
from app.compute.row_predictions import teacher_forced
from app.figures.tables import Table
from app.languages import _
from app.stage.edit_words import edit_words
from app.stage.scene import Scene
from app.views.whatif.part_names import part_name
from transformer.analysis.each_edit import Part, parts_by_layer
from transformer.analysis.edits import Edit, HeadOff, ResidualOff, SublayerOff, edit_text

LITTLE = 0.05  # nats: a head that costs less hardly matters
TRIED = 12  # at most so many parts are tried to find one without which the translation changes
STRONGEST = 2  # heads that are tried before sub-layers
QUICK = 1.5e11  # parts x tokens x parameters: up to here all are ranked when the page opens, in about 2 s on one core


@dataclass(frozen=True)
class Ranking:
    """What the translation loses without each part, in nats; below 0 where it gains."""

    lost: Mapping[Part, float]

    @property
    def heads(self) -> list[tuple[HeadOff, float]]:
        """All heads, the one that costs most first."""
        found = [(part, lost) for part, lost in self.lost.items() if isinstance(part, HeadOff)]
        return sorted(found, key=lambda pair: -pair[1])

    @property
    def sublayers(self) -> list[tuple[SublayerOff, float]]:
        """All sub-layers, the one that costs most first."""
        found = [(part, lost) for part, lost in self.lost.items() if isinstance(part, SublayerOff)]
        return sorted(found, key=lambda pair: -pair[1])

    def largest(self, kind: type[Part]) -> float:
        """Where the scale of colours of these parts ends: the largest change, rounded up."""
        return rounded_up(max(abs(lost) for part, lost in self.lost.items() if isinstance(part, kind)))

    @property
    def cheap(self) -> tuple[HeadOff, ...]:
        """The heads that cost less than `LITTLE`."""
        return tuple(head for head, lost in self.heads if lost < LITTLE)


def is_quick(scene: Scene) -> bool:
    """Whether ranking all parts is fast enough to do it without a click."""
    tokens = len(scene.translation.source_ids) + len(scene.hypothesis.ids)
    parts = sum(map(len, parts_by_layer(scene.config)))
    return parts * tokens * scene.subject.original.translator.model.parameter_count <= QUICK


def rank(scene: Scene, progress: Callable[[int, int], None]) -> Ranking:
    """Switches each part of the original model off in turn; computed once and kept.

    Args:
        progress: is called with the number of layers that are done, and the number of all.
    """
    original = scene.subject.original
    source_ids, best = scene.translation.source_ids, scene.best(original)
    whole = sum(best.log_probabilities)
    layers = list(parts_by_layer(scene.config))
    lost: dict[Part, float] = {}
    for done, parts in enumerate(layers):
        progress(done, len(layers))
        texts = tuple(edit_text(part) for part in parts)
        found = cached_results.with_each_edit(original, source_ids, best.ids, texts).sum(axis=-1)
        lost |= {part: whole - float(row) for part, row in zip(parts, found, strict=True)}
    return Ranking(lost)


def changing(scene: Scene, ranking: Ranking) -> HeadOff | SublayerOff | None:
    """A part without which the translation is another one. None: none of those that are `tried` is such a part."""
    original, translation = scene.subject.original, scene.translated_by(scene.subject.original)
    for part in tried(ranking):
        found = cached_results.translate_ids(original.edited(part), translation.source_ids, translation.settings)
        if found.text != translation.hypotheses[0].text:
            return part
    return None


def tried(ranking: Ranking) -> list[HeadOff | SublayerOff]:
    """The strongest heads, then sub-layers, the one that costs most first, then other heads: `TRIED` at most."""
    heads, sublayers = ([part for part, lost in parts] for parts in (ranking.heads, ranking.sublayers))
    return [*heads[:STRONGEST], *sublayers[: TRIED // 2], *heads[STRONGEST:]][:TRIED]


def rounded_up(value: float) -> float:
    """The value, rounded up to two significant digits: 0.8 for 0.7961. It is never 0."""
    if value < 1e-6:
        return 1e-6
    step = 10.0 ** (math.floor(math.log10(value)) - 1)
    return math.ceil(value / step - 1e-9) * step


def lost_together(scene: Scene, edits: tuple[Edit, ...]) -> float:
    """What the translation loses with all of these edits at once."""
    original = scene.subject.original
    best, without = scene.best(original), original.edited(*edits)
    return sum(best.log_probabilities) - teacher_forced(without, scene.translation.source_ids, best.ids).score


def ranking_table(ranking: Ranking) -> Table:
    """One row per part, the one that costs most first."""
    parts = sorted(ranking.lost.items(), key=lambda pair: -pair[1])
    return {
        _("switched off"): [
            edit_words(part) if isinstance(part, ResidualOff) else part_name(part) for part, lost in parts
        ],
        _("nats lost"): [lost for part, lost in parts],
    }
