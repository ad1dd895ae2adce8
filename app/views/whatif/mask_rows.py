"""The table beside the matrix of "Take a mask away": what the model does in a pass over all rows at once, alone with a
cache, alone without it, and in a padded batch. Its columns are the original model, the edited one, and a small model
that was trained without the causal mask.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from app.components.comparison import Cell, Row
from app.compute import cached_results
from app.compute.mask_results import without_cache
from app.compute.row_predictions import Predictions
from app.figures.axes import visible
from app.figures.shares import Share
from app.figures.theme import fixed
from app.languages import _, ngettext
from app.stage.scene import Scene
from app.views.shared.small_mask_models import SmallModel, SmallModels
from app.views.whatif.padded_batch import Batch

MOST_REREAD = 30  # tokens: in a longer translation the steps do not read all tokens again


@dataclass(frozen=True)
class Reread:
    """What is written greedily where every step reads all words again, without a cache: by the original model `before`,
    by the edited one `after`. `cached` is what the edited one writes with its cache."""

    before: str
    after: str
    cached: str


def reread_of(scene: Scene, original: Scene) -> Reread | None:
    """What both models write without a cache. None: the translation is too long for that."""
    size = len(original.hypothesis.ids)
    if size > MOST_REREAD:
        return None
    ids = original.translation.source_ids
    tokenizer = scene.subject.translator.tokenizer
    greedy = replace(scene.translation.settings, method="greedy", n_best=1)
    before, cached = (
        cached_results.translate_ids(each, ids, greedy) for each in (scene.subject.original, scene.subject)
    )
    if not scene.subject.edits:  # then both models are the same, and the cache changes nothing
        return Reread(before.text, before.text, before.text)
    most = max(size, len(before.ids), len(cached.ids)) + 8
    return Reread(before.text, tokenizer.decode(without_cache(scene.subject, ids, most)), cached.text)


@dataclass(frozen=True)
class Outcome:
    """What a model predicts in one pass over the original translation, and what it writes alone."""

    predictions: Predictions
    text: str


def rows_of(
    original: Outcome, edited: Outcome, reread: Reread | None, batch: Batch | None, both: SmallModels | None
) -> list[Row]:
    """The rows of the table; `both` has the small model that was trained without the causal mask."""

    def row(label: str, cells: tuple[Cell, Cell], third: Callable[[SmallModel], Cell]) -> Row:
        return Row(label, (*cells, third(both.unmasked)) if both else cells)

    step = _step(original.predictions), _step(edited.predictions, original.predictions)
    alone = _written(original.text, edited.text)
    rows = [
        row(_("All rows at once, as in training: tokens ranked first"), step, lambda small: _step(small.step)),
        row(
            _("Decoding, token by token, with the cache"), alone, lambda small: Cell(small.alone.text or _("(nothing)"))
        ),
    ]
    if reread:
        rows.append(
            row(
                _("Greedy decoding, without a cache: each step computes all written tokens again"),
                _written(reread.before, reread.after),
                lambda small: Cell(_again(small) or _("(nothing)")),
            )
        )
    if batch:
        label = ngettext(
            "“{sentence}” in a batch, {count} token of padding: with the padding mask, and without",
            "“{sentence}” in a batch, {count} tokens of padding: with the padding mask, and without",
            batch.padding,
            sentence=batch.sentence.source,
        )
        before_cell, after_cell = _written(*(each.text for each in batch.written))
        share = float(batch.share_on_padding("encoder").mean())
        cells = _padded(before_cell, 0.0), _padded(after_cell, share)
        rows.append(row(label, cells if share else (before_cell, after_cell), _not_computed))
    return rows


def small_model_title(both: SmallModels, original: Scene) -> str:
    """The name of the column of the small model. It has the sentence if that is not the one of the page, which the
    model cannot read."""
    if both.source == original.translation.sentence:
        return _("Trained without (small)")
    return _("Trained without (small), on “{sentence}”", sentence=visible(both.source))


def _again(small: SmallModel) -> str:
    """What the small model writes where each step reads all its words again."""
    ids = without_cache(small.trained, small.source_ids, MOST_REREAD)
    return small.trained.translator.tokenizer.decode(ids)


def _not_computed(small: SmallModel) -> Cell:
    return Cell("–", _("not computed: only its causal mask differs"))


def _padded(cell: Cell, share: float) -> Cell:
    """What was written, and as a bar how much of the encoder's attention is on padding."""
    return replace(cell, note=_("{share:.0%} of weight on padding", share=Share(share)), share=share)


def _step(found: Predictions, before: Predictions | None = None) -> Cell:
    right, size = int(found.right.sum()), len(found.right)
    is_other = before is not None and right != int(before.right.sum())
    score = _("log-probability {score}", score=fixed(found.score, 1))
    return Cell(_("{right} of {count} right", right=right, count=size), score, right / size, changed=is_other)


def _written(before: str, after: str) -> tuple[Cell, Cell]:
    if before == after:
        return Cell(before or _("(nothing)")), Cell(_("the same"))
    return Cell(before or _("(nothing)")), Cell(after or _("(nothing)"), changed=True)
