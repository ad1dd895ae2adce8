"""A finding of the doctor: one problem, its place, its numbers, and what to do."""

from dataclasses import dataclass
from typing import Literal

from transformer.model.attention_kinds import Kind

Name = Literal[
    # of the checkpoint, for every sentence
    "not_finite",
    "zero_weights",
    "large_gains",
    "dead_units",
    "no_causal_mask",
    # of the checkpoint and this sentence
    "ignores_source",
    "flat_attention",
    "empty",
    "cut",
    "loop",
    "hesitates",
    "no_letters",
    "unlearnt_tokens",
    "too_long",
    "untrained_positions",
    "special_head",
    "same_head",
]


@dataclass(frozen=True)
class Head:
    """One head; layer and head are counted from 0."""

    kind: Kind
    layer: int
    head: int

    def __str__(self) -> str:
        return f"{self.layer + 1}.{self.head + 1}"


@dataclass(frozen=True)
class Finding:
    """One problem.

    Attributes:
        title: the problem in a few words, without text of the sentence.
        says: the same with numbers. It may quote the sentence.
        advice: what to do.
        head: the head that shows it best, if there is one.
        stack: the part of the model that it is about, if it is about one.
    """

    name: Name
    title: str
    says: str
    advice: str
    head: Head | None = None
    stack: Literal["encoder", "decoder"] | None = None


def listed(things: list[str], most: int = 6) -> str:
    """ "a, b and c", or "a, b and 7 more"."""
    if len(things) > most:
        return f"{', '.join(things[: most - 1])} and {len(things) - most + 1} more"
    return f"{', '.join(things[:-1])} and {things[-1]}" if len(things) > 1 else "".join(things)
