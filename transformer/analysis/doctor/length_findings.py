"""Sentences longer than those of the training.

The metrics of a checkpoint have the lengths of its training sentences (transformer/checkpoint/length_statistics.py).
For an older checkpoint the limit of its recipe is used.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from transformer.analysis.doctor.finding import Finding
from transformer.checkpoint.length_statistics import COMMON, SIDES
from transformer.config import ModelConfig
from transformer.data.toy_tasks import TOY_TASKS
from transformer.decoding.translation import Hypothesis, Translation


@dataclass(frozen=True)
class Lengths:
    """The largest lengths of training sentences in tokens, without </s>; None if unknown.

    Attributes:
        source, target: of each side.
        counted: true if 999 of 1,000 sentences do not exceed these lengths; false if they are the recipe's limit.
    """

    source: int | None
    target: int | None
    counted: bool


def trained_lengths(metrics: Mapping[str, Any], recipe: Mapping[str, Any] | None) -> Lengths:
    """The lengths of training sentences, from a checkpoint. Its values are checked, because they come from a file."""
    source, target = (_count(metrics.get(f"{side}_{COMMON}")) for side in SIDES)
    if source and target:
        return Lengths(source, target, True)
    data = (recipe or {}).get("data")
    if not isinstance(data, dict):
        return Lengths(None, None, False)
    task = TOY_TASKS.get(str(data.get("toy")))
    most = _count(data.get("toy_max_length" if task and task.one_token_each else "max_length"))
    return Lengths(most, most, False)


def examine_lengths(
    config: ModelConfig, known: Lengths, translation: Translation, hypothesis: Hypothesis
) -> Iterator[Finding]:
    """Findings in the length of a sentence and of its translation."""
    tokens, written = len(translation.source_ids) - 1, len(hypothesis.ids)
    if known.source and tokens > known.source:
        trained = f"Trained on sentences of up to {known.source} tokens"
        if known.counted:
            trained = f"Of 1,000 training sentences 999 had at most {known.source} tokens"
        yield Finding(
            "too_long",
            "Longer than the training sentences",
            f"{trained}; yours has {tokens}.",
            "Words may be left out or repeated towards the end. Split the sentence.",
        )
    if config.positions == "learned":
        sides = [("source", tokens + 1, known.source), ("translation", written, known.target)]
        beyond = [(side, length, most + 1) for side, length, most in sides if most and length > most + 1]
        for side, length, most in beyond[:1]:
            yield Finding(
                "untrained_positions",
                "Positions that were hardly trained",
                f"The {side} has {length} positions, but nearly all training sentences had at most {most}: the learned "
                "vectors of later positions have hardly changed from their random values.",
                "Split the sentence, or train with sinusoidal positions.",
                stack="encoder" if side == "source" else "decoder",
            )


def _count(value: object) -> int | None:
    return value if type(value) is int and 0 < value < 2**31 else None
