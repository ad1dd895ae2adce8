"""The facts by which the size of a model is chosen: how much parallel text there is, and of which kind.

Only the beginning of a large file is read; the number of pairs in the rest is estimated from the size of the file.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from transformer.data.corpus import Pair, Text, plain
from transformer.data.data_options import DataConfig
from transformer.data.parts import parts_of
from transformer.errors import CorpusError

SAMPLE = 100_000  # pairs that are read of each file


@dataclass(frozen=True)
class CorpusFacts:
    """Facts about parallel text."""

    pairs: int  # without an empty side; an estimate if the text is larger than the sample
    characters: float  # the mean number of characters of the longer side of a pair
    character_counts: tuple[int, ...]  # how often each character occurs in the sample, the most frequent first
    is_estimate: bool = False  # whether `pairs` is an estimate, which is rounded to three digits


def facts_of(config: DataConfig) -> CorpusFacts:
    """Facts about the training text that a recipe names. A pair that occurs several times counts once, if
    data.drop_duplicates is true.

    A line that is not a pair is ignored here: the preparation of the text reports it. Monolingual parts do not count,
    nor do parts with `only`, which repeat pairs of other parts.

    Raises:
        CorpusError: a file cannot be read.
    """
    pairs, estimate = list[Pair](), 0.0
    for part in parts_of(config):
        if part.only is not None:
            continue
        sample, share = _sample(part.text)
        pairs += sample
        estimate += len(sample) / share if share else 0.0
    if config.drop_duplicates:
        different = list(dict.fromkeys(pairs))
        pairs, estimate = different, estimate * len(different) / max(len(pairs), 1)
    return facts_of_pairs(pairs, round(estimate))


def facts_of_pairs(pairs: Iterable[Pair], estimate: int | None = None) -> CorpusFacts:
    """Facts about these pairs of sentences.

    Args:
        estimate: how many there are, if `pairs` is only a sample of them.
    """
    counts, longer, number = Counter[str](), 0, 0
    for source, target in pairs:
        counts.update(source)
        counts.update(target)
        longer += max(len(source), len(target))
        number += 1
    del counts[" "]
    is_estimate = estimate is not None and estimate > number
    total = int(float(f"{estimate:.3g}")) if estimate is not None and is_estimate else number
    return CorpusFacts(total, longer / max(number, 1), tuple(sorted(counts.values(), reverse=True)), is_estimate)


def _sample(text: Text) -> tuple[list[Pair], float]:
    """The first pairs without an empty side, and the share of the text (0 to 1) that was read to find them."""
    found, share = list[Pair](), 0.0
    for portion in text.portions():
        for number, record in enumerate(portion.records, portion.first):
            try:
                pair = plain(text.pair(number, record))
            except CorpusError:
                continue
            if all(pair):
                found.append(pair)
        share = portion.share
        if len(found) >= SAMPLE:
            return found, min(share, 1.0)
    return found, 1.0
