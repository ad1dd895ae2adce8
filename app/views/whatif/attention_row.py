"""One row of encoder-decoder attention: the weight that the model gives to each source token while it predicts a token,
and the edit that sets the row by hand.

The row is that of one head, or the mean over all heads of its layer. In the second case the edit gives all these
heads the same weights.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from app.compute import cached_results
from app.compute.cached_results import Observed
from app.compute.row_predictions import Predictions, predictions
from app.compute.subject import Subject
from app.figures.axes import in_words
from app.figures.theme import CHOSEN, kind_color
from app.languages import _, with_label
from app.stage.scene import Scene
from transformer.analysis.edits import WeightsSet

LITTLE = 0.005  # a smaller share is written as 0%


@dataclass(frozen=True)
class Place:
    """Which row: layer and head (None: all heads of the layer) and decoding step, from 0."""

    layer: int
    head: int | None
    step: int

    def is_set_by(self, edit: object) -> bool:
        """Whether an edit sets this row, or this row among those of other heads."""
        return (
            isinstance(edit, WeightsSet)
            and (edit.kind, edit.layer, edit.query) == ("cross", self.layer, self.step)
            and (None in (edit.head, self.head) or edit.head == self.head)
        )

    def of_edits(self, subject: Subject) -> "Place":
        """The row that the edits set: that of all heads of the layer if one of them sets this row in all heads."""
        in_all = any(isinstance(edit, WeightsSet) and edit.head is None and self.is_set_by(edit)
                     for edit in subject.edits)  # fmt: skip
        return replace(self, head=None) if in_all else self

    def edit(self, weights: Sequence[int]) -> WeightsSet:
        """The edit that gives the keys these weights."""
        row = tuple((key, weight) for key, weight in enumerate(weights) if weight)
        return WeightsSet("cross", self.layer, self.head, self.step, row)


@dataclass(frozen=True)
class Row:
    """The row of a place, without the edit that sets it and with it.

    Attributes:
        tokens: the translation that is made without the edit; `place.step` is one of its tokens.
        base, now: the weights (S) without the edit and with it.
        moved: how much of the weight is on another token than without the edit, 0 to 1. Of all heads it is the mean, so
            it can be above 0 although the mean weights are the same.
        predicted: what is predicted without and with it, from the same tokens.
    """

    place: Place
    tokens: tuple[str, ...]
    base: np.ndarray
    now: np.ndarray
    moved: float
    predicted: tuple[Predictions, Predictions]

    @property
    def ends(self) -> tuple[int, int] | None:
        """The key that lost most, and the one that gained most; None if the weights are the same."""
        gained = self.now - self.base
        return (int(gained.argmin()), int(gained.argmax())) if np.abs(gained).sum() / 2 >= LITTLE else None

    @property
    def first(self) -> tuple[int, int]:
        """The id that is ranked first, without the edit and with it."""
        before, after = (int(each.first[self.place.step]) for each in self.predicted)
        return before, after

    @property
    def log_probabilities(self) -> tuple[float, float]:
        """The log-probability of the translation's token in this step, without the edit and with it."""
        before, after = (float(each.log_probabilities[self.place.step]) for each in self.predicted)
        return before, after


def without_row(subject: Subject, place: Place) -> Subject:
    """The subject without the edits that set this row, but with all others."""
    return replace(subject, edits=tuple(edit for edit in subject.edits if not place.is_set_by(edit)))


def row_of(scene: Scene, place: Place) -> Row:
    """The row, from two passes over the translation that the model makes without the edit of the row. Both compute what
    a step of decoding computes."""
    base = without_row(scene.subject, place)
    written_without = scene.best(base)
    ids = written_without.ids
    place = replace(place, step=min(place.step, len(ids) - 1))
    subjects = base.as_in_steps, scene.subject.as_in_steps
    found = [cached_results.observed(each, scene.translation.source_ids, ids) for each in subjects]

    def weights(of: Observed) -> np.ndarray:
        heads = of.attention["cross"].weights[place.layer, :, place.step].astype(np.float64)  # (H, S)
        return heads if place.head is None else heads[place.head : place.head + 1]

    rows, set_rows = map(weights, found)
    moved = float(np.abs(set_rows - rows).sum(axis=-1).mean() / 2)
    before, after = (predictions(each.trace["logits"], ids) for each in found)
    return Row(place, written_without.tokens, rows.mean(axis=0), set_rows.mean(axis=0), moved, (before, after))


def opening_step(tokens: Sequence[str], weights: np.ndarray) -> int:
    """The step of a content word: of the tokens that begin a word with at least 4 letters, the one whose row of
    `weights` (T, S) has the largest weight."""
    steps = [
        step for step, token in enumerate(tokens) if token.startswith("▁") and len(token) > 4 and token[1:].isalpha()
    ]
    return max(steps or range(len(tokens)), key=lambda step: float(weights[step].max()))


def message(scene: Scene, row: Row, head: int) -> dict[str, Any]:
    """What `app.components.weight_bars` draws.

    Args:
        head: the chosen head, also while all heads of the layer are set.
    """
    place = row.place
    return {
        "tokens": [in_words(token) for token in scene.source.tokens],
        "base": row.base.tolist(),
        "row": row.now.tolist(),
        "steps": [with_label(str(step + 1), in_words(token)) for step, token in enumerate(row.tokens)],
        "step": place.step,
        "layer": place.layer,
        "head": head,
        "all": place.head is None,
        "layers": scene.config.decoder_layers,
        "heads": scene.config.heads,
        "words": f"{scene.subject.file.path} {scene.translation.source_ids} {place.step}",
        "place": f"{place.layer} {place.head}",
        "color": kind_color("cross"),
        "chosenColor": CHOSEN,
        "alt": _(
            "Encoder-decoder attention, weights of step {step} on the {count} source tokens. Drag a bar, or use the "
            "arrow keys: up and down change a weight, left and right choose another token.",
            step=place.step + 1,
            count=len(row.now),
        ),
    }


def table(scene: Scene, row: Row) -> dict[str, list[Any]]:
    """The weights as columns of a table."""
    return {
        _("key"): list(scene.source.tokens),
        _("weight of the model"): row.base.tolist(),
        _("weight now"): row.now.tolist(),
    }
