"""The table beside the matrix of "Take a mask away": what the model does in a pass over all rows at once, alone with a
cache, alone without it, and in a padded batch; each by the original model, by the edited one, and by a small model that
was trained without the causal mask.
"""

from dataclasses import dataclass, replace

import numpy as np

from app.components.comparison import Cell, Row
from app.compute import cached_results
from app.compute.mask_results import together, without_cache
from app.compute.row_predictions import Predictions
from app.figures.theme import counted, fixed
from app.library import checkpoints
from app.stage.scene import Scene
from app.views.shared.mask_twins import Twins
from transformer.errors import HeadlightError

MOST_REREAD = 30  # tokens of a translation up to which each step may read all of them again


@dataclass(frozen=True)
class Batch:
    """The shorter of two sentences, translated in one batch with a longer one.

    Attributes:
        padding: how many positions of padding it has.
        before: its translation by the original model. after: by the edited one.
        share: of the encoder's attention in the edited model that is on padding, over all layers and heads.
    """

    sentence: str
    padding: int
    before: str
    after: str
    share: float


def batch_of(scene: Scene) -> Batch | None:
    """This sentence and the example that is most different in length. None: nothing has padding in that batch."""
    subject, source = scene.subject, scene.translation.source
    size = len(scene.translation.source_ids)
    most = checkpoints.most_pieces(subject.translator)
    needed = {text: checkpoints.pieces_needed(subject.file, text)[0] for text in scene.task.examples if text != source}
    fitting = {text: length for text, length in needed.items() if length <= most}
    if not fitting:
        return None
    other = max(fitting, key=lambda text: abs(fitting[text] + 1 - size))
    try:
        pairs = [together(each, (source, other), scene.translation.settings) for each in (subject.original, subject)]
    except HeadlightError:
        return None
    sources = tuple(each.source_ids for each in pairs[0])
    row = min((0, 1), key=lambda number: len(sources[number]))
    padding = abs(len(sources[0]) - len(sources[1]))
    if not padding or not all(each[row].hypotheses for each in pairs):
        return None
    found = cached_results.record_batch(
        subject,
        sources,
        tuple(each.hypotheses[0].ids for each in pairs[0]),
        ("encoder.layers.*.self_attention.weights",),
    )[row]
    weights = np.stack([found[site] for site in found.arrays])[..., : len(sources[row]), len(sources[row]) :]
    before, after = (each[row].hypotheses[0].text for each in pairs)
    return Batch((source, other)[row], padding, before, after, float(weights.sum(-1, dtype=np.float64).mean()))


@dataclass(frozen=True)
class Reread:
    """What the two models write where every step reads all words again, without a cache."""

    before: str
    after: str


def reread_of(scene: Scene, original: Scene) -> Reread | None:
    """None: the translation is too long for that."""
    size = len(original.hypothesis.ids)
    if size > MOST_REREAD:
        return None
    ids = original.translation.source_ids
    tokenizer = scene.subject.translator.tokenizer
    greedy = replace(scene.translation.settings, method="greedy", n_best=1)
    before = cached_results.translate_ids(scene.subject.original, ids, greedy).text
    if not scene.subject.edits:  # then a cache changes nothing
        return Reread(before, before)
    return Reread(before, tokenizer.decode(without_cache(scene.subject, ids, size + 8)))


def rows_of(before: Predictions, after: Predictions, texts: tuple[str, str], reread: Reread | None, batch: Batch | None,
            both: Twins | None) -> list[Row]:  # fmt: skip
    """The rows of the table.

    Args:
        before: of the original model in a pass over its translation. after: of the edited model on the same tokens.
        texts: what the two write alone.
        both: the small model that was trained without the mask is one of them.
    """

    def row(label: str, cells: tuple[Cell, Cell], third: Cell) -> Row:
        return Row(label, (*cells, third) if both else cells)

    trained = both.free if both else None
    step = (_step(before), _step(after, before))
    rows = [
        row(
            "All rows at once, as in training: tokens ranked first", step, _step(trained.step) if trained else Cell("")
        ),
        row(
            "Alone, word by word, with the cache",
            _written(*texts),
            Cell(trained.alone.text or "(nothing)") if trained else Cell(""),
        ),
    ]
    if reread:
        rows.append(
            row(
                "Alone without a cache: each step reads all its words again",
                _written(reread.before, reread.after),
                Cell(""),
            )
        )
    if batch:
        label = f"“{batch.sentence}” in a batch: {counted(batch.padding, 'token')} of padding"
        before_cell, after_cell = _written(batch.before, batch.after)
        cells = _padded(before_cell, 0.0), _padded(after_cell, batch.share)
        rows.append(row(label, cells if batch.share else (before_cell, after_cell), Cell("")))
    return rows


def _padded(cell: Cell, share: float) -> Cell:
    """What was written, and as a bar how much of the encoder's attention is on padding."""
    return replace(cell, note=f"{share:.0%} of weight on padding", share=share)


def _step(found: Predictions, before: Predictions | None = None) -> Cell:
    right, size = int(found.right.sum()), len(found.right)
    is_other = before is not None and right != int(before.right.sum())
    score = f"log-probability {fixed(found.score, 1)}"
    return Cell(f"{right} of {size} right", score, right / size, changed=is_other)


def _written(before: str, after: str) -> tuple[Cell, Cell]:
    if before == after:
        return Cell(before or "(nothing)"), Cell("the same")
    return Cell(before or "(nothing)"), Cell(after or "(nothing)", changed=True)
