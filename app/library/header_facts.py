"""What the file of a checkpoint says about it, in sentences. They replace a missing card."""

from collections.abc import Iterator, Mapping
from typing import Any

from app.languages import _, ngettext
from app.library.catalogue import Entry
from app.library.main_score import MainScore, measured_on
from transformer.files.untrusted_values import finite_number


def header_facts(one: Entry) -> list[str]:
    """Sentences on the training text, the training and the scores; what the file does not say is left out. Names in
    them come from the file, so they must be shown as text, never as Markdown."""
    metrics: Mapping[str, Any] = one.header.metrics if one.header else {}
    return [*_texts(metrics), *_training(one, metrics), *_scores(one)]


def _texts(metrics: Mapping[str, Any]) -> Iterator[str]:
    found = metrics.get("corpus")
    for text in found if isinstance(found, list) else []:
        read, learnt = (_count(text.get(key)) if isinstance(text, dict) else 0 for key in ("read", "learnt"))
        if read and learnt:
            yield _(
                "Trained on {learnt:,} of the {read:,} pairs of {name}.",
                learnt=learnt,
                read=read,
                name=str(text.get("name", "?"))[:200],
            )


def _training(one: Entry, metrics: Mapping[str, Any]) -> Iterator[str]:
    planned = _count(one.recipe("training").get("updates"))
    update, tokens = (_count(metrics.get(key)) for key in ("update", "target_tokens"))
    seconds = finite_number(metrics.get("seconds"))
    if not (update and planned and tokens and seconds):
        return
    if seconds < 120:
        yield ngettext(
            "Weights of update {update:,} of {planned:,}, after {tokens:.1f} M target tokens and {count} second of "
            "training.",
            "Weights of update {update:,} of {planned:,}, after {tokens:.1f} M target tokens and {count} seconds of "
            "training.",
            round(seconds),
            update=update,
            planned=planned,
            tokens=tokens / 1e6,
        )
    else:
        yield _(
            "Weights of update {update:,} of {planned:,}, after {tokens:.1f} M target tokens and "
            "{minutes:,.0f} minutes of training.",
            update=update,
            planned=planned,
            tokens=tokens / 1e6,
            minutes=seconds / 60,
        )


def _scores(one: Entry) -> Iterator[str]:
    for score in one.scores:
        found = MainScore(score.measure, score.value, measured_on(one, score), score.signature)
        yield f"{found} ({found.measured_on})."


def _count(value: Any) -> int:
    return int(finite_number(value) or 0)
