"""Sentences of the text of a run whose right translations are known."""

from app.library.run_samples import MOST_CHARACTERS, read_samples
from app.library.runs import Run
from app.views.training.own_text import first_pair
from transformer.data.corpus import Pair
from transformer.data.toy_tasks import TOY_TASKS


def known_pairs(run: Run) -> list[Pair]:
    """The first pair of the text that was uploaded, then the samples of the validation text, the shortest first. A toy
    task has none: its page has examples."""
    if _toy(run):
        return []
    samples = read_samples(run.folder)
    pairs = [(sample.source, sample.reference) for sample in (samples[max(samples)] if samples else [])]
    uploaded = first_pair(run.folder)
    return [
        *([uploaded] if uploaded else []),
        *(pair for pair in pairs if all(0 < len(side) < MOST_CHARACTERS for side in pair)),  # else it may be cut
    ]


def right_translation(run: Run, sentence: str) -> str:
    """The right translation of a source of a toy task, or of one of the `known_pairs`; else ""."""
    if toy := _toy(run):
        return TOY_TASKS[toy].answer(sentence) or ""
    return next((target for source, target in known_pairs(run) if source == sentence), "")


def _toy(run: Run) -> str | None:
    return run.recipe.data.toy if run.recipe else None
