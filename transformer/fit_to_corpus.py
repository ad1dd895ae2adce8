"""Which model suits so much text: from facts about a corpus to values of a recipe, each with its reason.

An option with the value "fit" (recipes/own-text.toml) is chosen here. An option with another value keeps it, and the
options that depend on it are chosen to match.

The second size was chosen by training on 20,000 pairs (pretrained/EXPERIMENTS.md, "Own text"); the third is that of
en-de for 190,000 pairs, the fourth the paper's base model for 4.5 million. The first was not compared with others. With
little text, a small vocabulary and much dropout are better (Sennrich and Zhang 2019, "Revisiting Low-Resource Neural
Machine Translation: A Case Study", arXiv:1905.11901), and the same text is read more often. Subword sampling lets the
model read it in other tokens each time (Kudo 2018, arXiv:1804.10959).
"""

import math
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from transformer.data.corpus_facts import CorpusFacts
from transformer.data.train_valid_overlap import usual_valid_size

FIT = "fit"  # the value of an option that is chosen here

BYTES = 256 + 4  # 256 bytes and the 4 special tokens: every vocabulary has them, beside characters and sub-words
LEAST_COVERAGE = 0.98  # sentencepiece takes no less
VALIDATIONS = 25  # in one run, if it has so many updates
WARMUP = 4_000  # updates (section 5.3)
SNAPSHOTS = 14  # half precision: 13 MB each for 20,000 pairs
FEW_SNAPSHOTS, WIDE = 5, 256  # models with a larger d_model than WIDE have fewer: 120 MB each at 512
ENDS = 0.8  # the last snapshot is after this share of the estimated updates, since the estimate may be too high
FULL_BATCH = 0.97  # of a batch are tokens, the rest is padding
CONTINUED = 1 / 3  # of the usual learning rate, if the model is trained already: not measured
LONGER = 1.05  # tokens of a text with subword sampling, divided by those without: measured for 0.4 and 8,000 tokens
BPE_SAMPLING = 0.1  # the value means something else for BPE (transformer/config.py), for which this is usual
FEW_PAIRS = 5_000  # with fewer, a model repeats sentences that it has read more than it translates


@dataclass(frozen=True)
class Size:
    """What suits a corpus of fewer than `below` pairs."""

    below: float
    layers: int
    d_model: int
    d_ff: int
    dropout: float
    vocab_size: int
    sampling: float
    tokens_per_batch: int
    epochs: int


SIZES = (
    Size(FEW_PAIRS, 3, 128, 512, 0.3, 2_000, 0.0, 2_048, 80),
    Size(60_000, 3, 256, 1_024, 0.2, 8_000, 0.4, 2_048, 25),
    Size(600_000, 6, 256, 1_024, 0.15, 8_000, 0.0, 4_096, 20),
    Size(float("inf"), 6, 512, 2_048, 0.1, 32_000, 0.0, 25_000, 15),
)


@dataclass(frozen=True)
class Choice:
    """Values that were chosen together, by `section.option`, and why."""

    values: dict[str, Any]
    reason: str


def fit(facts: CorpusFacts, given: Mapping[str, Any] | None = None, is_trained: bool = False) -> tuple[Choice, ...]:
    """Values for all options that own-text.toml leaves open.

    Args:
        given: values that are decided already, by `section.option`: the others are chosen to go with them.
        is_trained: whether the run goes on from a model that is trained, with the same vocabulary.
    """
    size = size_for(facts)
    is_bpe = (given or {}).get("tokenizer.kind") == "bpe"
    given = {option: value for option, value in (given or {}).items() if type(value) in (int, float) and value > 0}
    width = int(given.get("model.d_model", size.d_model))
    batch = tokens_per_update(size, given)
    vocabulary, coverage = vocabulary_for(facts, size.vocab_size)
    updates = updates_for(facts, given)
    pairs = f"{'about ' if facts.is_estimate else ''}{facts.pairs:,} pairs"
    every = max(1, round(updates / VALIDATIONS))
    times = max(1, round(updates / every))
    return (
        Choice(
            {"model.encoder_layers": size.layers, "model.decoder_layers": size.layers, "model.d_model": size.d_model},
            f"{pairs}: a larger model would learn them by heart"
            if size is not SIZES[-1]
            else f"{pairs}: enough for the paper's base model",
        ),
        Choice(
            {"model.d_ff": round(size.d_ff / size.d_model * width), "model.heads": heads_for(width)},
            f"{size.d_ff // size.d_model} times d_model, and heads of at least 32 numbers",
        ),
        Choice(
            {"model.dropout": size.dropout, "model.embedding_dropout": size.dropout},
            "the fewer pairs, the more dropout; the paper has 0.1 for 4.5 million",
        ),
        Choice(
            {"tokenizer.vocab_size": vocabulary, "tokenizer.character_coverage": coverage},
            f"the text has {len(facts.character_counts):,} different characters"
            if vocabulary > size.vocab_size or coverage < 1
            else f"with {pairs}, tokens of a larger vocabulary are too rare to be learnt",
        ),
        Choice(
            {"tokenizer.sampling": BPE_SAMPLING if size.sampling and is_bpe else size.sampling},
            "the same text is read in other tokens each time, so it is not learnt by heart so soon"
            if size.sampling
            else "no subword sampling: it was measured to help with 20,000 pairs only",
        ),
        Choice(
            {"data.valid_size": usual_valid_size(facts.pairs)},
            "a twentieth of the pairs, at most 1,000, is set aside for validation",
        ),
        Choice(
            {"data.tokens_per_batch": tokens_per_batch(size, given), "training.epochs": size.epochs},
            "the fewer pairs, the smaller the batches and the more passes; patience ends a run that no longer improves",
        ),
        Choice(
            {"training.peak_rate": float(f"{peak_rate_for(width, batch) * (CONTINUED if is_trained else 1):.2g}")},
            "a third of that for a new model: the weights that it starts with are trained already"
            if is_trained
            else f"for d_model {width} and {batch:,} tokens per update; wider models and fewer tokens need a lower one",
        ),
        Choice(
            {
                "training.warmup": max(1, min(WARMUP, round(updates / 10))),
            },
            f"the run has about {max(1, round(updates)):,} updates: a tenth of them, at most the paper's {WARMUP:,}, "
            "is warm-up",
        ),
        Choice({"training.validate_every": every}, f"validations in the run: about {times}"),
        Choice(
            {"training.save_every": every, "training.log_every": max(1, min(100, round(every / 4)))},
            f"checkpoints in the run: about {times}, and at least as many lines in the log",
        ),
        Choice(
            {
                "training.snapshots": snapshot_updates(
                    round(ENDS * updates), SNAPSHOTS if width <= WIDE else FEW_SNAPSHOTS
                )
            },
            "small checkpoints, in which the app shows how the model learnt your sentence; dense where most is learnt",
        ),
    )


def snapshot_updates(updates: int, count: int = SNAPSHOTS) -> tuple[int, ...]:
    """After which of so many updates a snapshot is kept: from the first to the last, and dense where most is learnt."""
    return tuple(sorted({round(updates * (i / (count - 1)) ** 1.6) for i in range(count)}))


def size_for(facts: CorpusFacts) -> Size:
    """The row of the table above that suits so many pairs."""
    return next(size for size in SIZES if facts.pairs < size.below)


def updates_for(facts: CorpusFacts, given: Mapping[str, Any]) -> float:
    """About how many updates the run has, with these values given as `fit` takes them."""
    size = size_for(facts)
    vocabulary = int(given.get("tokenizer.vocab_size", vocabulary_for(facts, size.vocab_size)[0]))
    length = facts.characters / characters_per_token(facts, vocabulary) + 1
    tokens = (facts.pairs - usual_valid_size(facts.pairs)) * length * (LONGER if size.sampling else 1)
    updates_per_epoch = max(1, math.ceil(tokens / (tokens_per_update(size, given) * FULL_BATCH)))
    return float(given.get("training.updates", given.get("training.epochs", size.epochs) * updates_per_epoch))


def tokens_per_batch(size: Size, given: Mapping[str, Any]) -> int:
    """That of the table, and never less than a sentence of the greatest length needs."""
    return max(size.tokens_per_batch, int(given.get("data.max_length", 0)) + 1)


def tokens_per_update(size: Size, given: Mapping[str, Any]) -> int:
    """Of one side, at most: several batches where gradients are accumulated."""
    return int(given.get("data.tokens_per_batch", tokens_per_batch(size, given)) * given.get("training.accumulate", 1))


def heads_for(d_model: int) -> int:
    """At most the paper's 8 heads, each of at least 32 numbers, if d_model can be split so."""
    return next((heads for heads in (8, 4, 2) if d_model % heads == 0 and d_model // heads >= 32), 1)


def peak_rate_for(d_model: int, tokens: int) -> float:
    """The highest learning rate: that of multi30k-en-de for 128, of en-de for 256, of equation 3 for 512 and more.

    With fewer than 4,096 `tokens` in an update, it falls with their square root (usual for Adam).
    """
    of_equation_3 = (d_model * WARMUP) ** -0.5
    rate = min(0.003, max(0.0026 * (256 / d_model) ** 2, of_equation_3))
    return float(f"{rate * min(1.0, math.sqrt(tokens / 4096)):.2g}")


def characters_per_token(facts: CorpusFacts, vocabulary: int) -> float:
    """About: a token of a writing system with thousands of characters has fewer of them.

    With these numbers, the estimated updates for 3,000 and 20,000 pairs of Tatoeba, in German and in French, are within
    6 % of the real ones (vocabularies of 2,000 and 4,000 tokens). A vocabulary of 8,000 has 3.8 characters per token in
    German and 3.5 in French.
    """
    return 1.5 if len(facts.character_counts) > 1000 else 2.8 + 0.5 * math.log2(max(1000, vocabulary) / 2000)


def vocabulary_for(facts: CorpusFacts, usual: int) -> tuple[int, float]:
    """The size of the vocabulary, and which share of the characters in the text have a token of their own.

    The others are written in bytes. Chinese and Japanese have more characters than a small vocabulary holds: then it is
    larger.
    """
    totals = list(accumulate(facts.character_counts))  # of the 1, 2, 3, ... most frequent characters
    room = (usual - BYTES) * 3 // 4
    if len(totals) <= room:
        return usual, 1.0
    share = max(LEAST_COVERAGE, totals[room - 1] / totals[-1])
    needed = bisect_left(totals, share * totals[-1]) + 1
    return max(usual, BYTES + needed * 4 // 3), round(share, 4)
