"""Sentences longer than those of the training.

A checkpoint says in its metrics how long they were (transformer/data/length_statistics.py). One from before this was
noted, or of unknown origin, has at least its recipe's limit, or the rows of its table of positions.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from transformer.analysis.doctor.finding import Finding
from transformer.config import ModelConfig
from transformer.data.length_statistics import COMMON, SIDES
from transformer.decoding.translation import Hypothesis, Translation

LETTERS = ("copy", "reverse", "sort")  # toy tasks in which a letter is a piece


@dataclass(frozen=True)
class Lengths:
    """What is known of the training sentences, in pieces, the end sign not counted; None: nothing.

    Attributes:
        source: as many as a source had at most. target: the same of the targets.
        counted: whether 999 of 1,000 of them were counted to have that at most; else it is what was allowed.
    """

    source: int | None
    target: int | None
    counted: bool


def trained_lengths(metrics: Mapping[str, Any], recipe: Mapping[str, Any] | None) -> Lengths:
    """How long training sentences were, from what a checkpoint says. It comes from a file: nothing is trusted."""
    source, target = (_count(metrics.get(f"{side}_{COMMON}")) for side in SIDES)
    if source and target:
        return Lengths(source, target, True)
    data = (recipe or {}).get("data")
    if not isinstance(data, dict):
        return Lengths(None, None, False)
    if data.get("toy") in LETTERS and (most := _count(data.get("toy_max_length"))):
        return Lengths(most, most, False)
    most = _count(data.get("max_length"))
    return Lengths(most, most, False)


def examine_lengths(
    config: ModelConfig, known: Lengths, translation: Translation, hypothesis: Hypothesis
) -> Iterator[Finding]:
    """Findings in the length of a sentence and of its translation."""
    pieces, written = len(translation.source_ids) - 1, len(hypothesis.ids)
    if known.source and pieces > known.source:
        trained = f"Trained on sentences of up to {known.source} pieces"
        if known.counted:
            trained = f"Of 1,000 sentences in the training 999 had at most {known.source} pieces"
        yield Finding(
            "too_long",
            "Longer than the training sentences",
            f"{trained}; yours has {pieces}.",
            "Expect words left out or said twice towards the end. Cut the sentence in two.",
        )
    if config.positions == "learned":
        sides = [("source", pieces + 1, known.source), ("translation", written, known.target)]
        beyond = [(side, length, most + 1) for side, length, most in sides if most and length > most + 1]
        for side, length, most in beyond[:1]:
            yield Finding(
                "untrained_positions",
                "Positions that were hardly trained",
                f"The {side} reaches position {length}, and nearly all training sentences ended by {most}: the learned "
                "vectors beyond are close to what chance drew.",
                "In a picture of the table the rows from there on have no pattern. Sinusoids have no such end.",
            )


def _count(value: object) -> int | None:
    return value if type(value) is int and 0 < value < 2**31 else None
