"""Pairs -> ids -> batches of about equally many tokens (paper, section 5.1: 25,000 source and 25,000 target tokens).

A batch is a rectangle, so short sentences beside a long one cost as much as it does. Pairs are therefore sorted by
length and cut into batches of neighbours, each at most `tokens_per_batch` source and so many target tokens with padding
counted. Among equals chance decides, and the order of the batches is drawn anew each epoch: both are functions of
(seed, epoch) alone, so that a resumed training finds its place by two integers.
"""

import random
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice

import numpy as np
import torch
from torch import Tensor

from transformer.config import BOS, EOS, PAD
from transformer.errors import ConfigError
from transformer.text.tokenizer import Tokenizer

Ids = Sequence[int] | np.ndarray
AT_ONCE = 10_000  # pairs in one call into sentencepiece


@dataclass(frozen=True)
class Batch:
    """What one step of training sees, right-padded with PAD. Where `target[b, t]` is read, `labels[b, t]` is due."""

    source: Tensor  # (B, S) long: pieces, EOS
    target: Tensor  # (B, T) long: BOS, pieces
    labels: Tensor  # (B, T) long: pieces, EOS
    target_tokens: int  # labels that are not PAD: what the loss is divided by

    def to(self, device: torch.device | str) -> "Batch":
        """The same batch on another device."""
        source, target, labels = (x.to(device, non_blocking=True) for x in (self.source, self.target, self.labels))
        return Batch(source, target, labels, self.target_tokens)


@dataclass(frozen=True)
class Sequences:
    """Many sequences of ids in one flat array: a tenth of the memory of lists."""

    ids: np.ndarray  # int32, all sequences end to end
    starts: np.ndarray  # int64, one more than there are sequences

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __getitem__(self, index: int) -> np.ndarray:
        return self.ids[self.starts[index] : self.starts[index + 1]]

    def __iter__(self) -> Iterator[np.ndarray]:
        return (self[index] for index in range(len(self)))

    @property
    def lengths(self) -> np.ndarray:
        """int64, in pieces: one for each sequence."""
        return np.diff(self.starts)


@dataclass(frozen=True)
class EncodedPairs:
    """A corpus as ids, without BOS and EOS."""

    sources: Sequences
    targets: Sequences
    too_long: int  # pairs left out

    def __len__(self) -> int:
        return len(self.sources)

    def batches(self, tokens_per_batch: int, seed: int, epoch: int) -> list[list[int]]:
        """One epoch of batches as lists of indices (see `batch_indices`)."""
        return batch_indices(self.sources.lengths, self.targets.lengths, tokens_per_batch, seed, epoch)

    def collate(self, indices: Sequence[int]) -> Batch:
        """The pairs with these indices as one padded batch."""
        return collate([self.sources[i] for i in indices], [self.targets[i] for i in indices])


def encode_pairs(
    tokenizer: Tokenizer,
    pairs: Iterable[tuple[str, str]],
    max_length: int,
    *,
    alpha: float = 0.0,
    rng: random.Random | None = None,
) -> EncodedPairs:
    """Encodes a corpus, read as a stream. Pairs with more than `max_length` pieces on a side are left out and counted.

    With `alpha` above 0 and an `rng`, each call draws other segmentations (subword sampling, see sampling.py).
    """
    sources, targets = _Flat(), _Flat()
    too_long = 0
    stream = iter(pairs)
    while chunk := list(islice(stream, AT_ONCE)):
        sides = [side for pair in chunk for side in pair]
        if alpha > 0 and rng is not None:
            encoded = [tokenizer.sample(side, alpha, rng) for side in sides]
        else:
            encoded = tokenizer.encode_batch(sides)
        fits = [max(len(s), len(t)) <= max_length for s, t in zip(encoded[::2], encoded[1::2], strict=True)]
        sources.extend([ids for ids, fit in zip(encoded[::2], fits, strict=True) if fit])
        targets.extend([ids for ids, fit in zip(encoded[1::2], fits, strict=True) if fit])
        too_long += len(fits) - sum(fits)
    return EncodedPairs(sources.sequences(), targets.sequences(), too_long)


def batch_indices(
    source_lengths: Sequence[int] | np.ndarray,
    target_lengths: Sequence[int] | np.ndarray,
    tokens_per_batch: int,
    seed: int,
    epoch: int,
) -> list[list[int]]:
    """Every index once, in batches of at most `tokens_per_batch` padded source and as many padded target tokens.

    Lengths are in pieces; a row is one longer, for its EOS or BOS. Raises ConfigError if a pair alone is too long.
    """
    sources, targets = np.asarray(source_lengths) + 1, np.asarray(target_lengths) + 1
    if len(sources) and (longest := max(sources.max(), targets.max())) > tokens_per_batch:
        raise ConfigError(
            f"A sentence of {longest} tokens does not fit into a batch of {tokens_per_batch}. "
            "Raise data.tokens_per_batch or lower data.max_length."
        )
    rng = np.random.default_rng([seed % 2**64, epoch])
    order = rng.permutation(len(sources))
    # By the longer side, then by which side is longer and how much, from one extreme to the other and back: so a
    # batch that reaches into the next length goes on with pairs like its own. The sort is stable: equals stay shuffled.
    longer, difference = np.maximum(sources, targets), sources - targets
    snake = np.where(longer % 2, difference, -difference)
    order = order[np.lexsort((snake[order], longer[order]))]
    # The widths in this order are the same each epoch, and so would be the cuts; the first batch, smaller by chance,
    # moves them all, so that the few long pairs do not always meet the same others.
    batches: list[list[int]] = [[]]
    room = int(rng.integers(tokens_per_batch // 2, tokens_per_batch + 1))
    for index, width in zip(order.tolist(), longer[order].tolist(), strict=True):  # widths only rise
        if (len(batches[-1]) + 1) * width > room:
            batches.append([])
            room = tokens_per_batch
        batches[-1].append(index)
    batches = [batch for batch in batches if batch]
    return [batches[i] for i in rng.permutation(len(batches))]


def collate(sources: Sequence[Ids], targets: Sequence[Ids]) -> Batch:
    """Ids without BOS and EOS -> a padded batch. "a b" is read as `BOS a b`, where `a b EOS` is due (section 3.1)."""
    source = _rectangle(sources, after=EOS)  # (B, S)
    # Trap: the same shift for both would let the decoder read the word it must predict
    # (test_the_decoder_reads_bos_first_and_must_end_with_eos).
    target = _rectangle(targets, before=BOS)  # (B, T)
    labels = _rectangle(targets, after=EOS)  # (B, T)
    return Batch(source, target, labels, sum(len(ids) + 1 for ids in targets))


def _rectangle(rows: Sequence[Ids], before: int | None = None, after: int | None = None) -> Tensor:
    """Rows of ids with a sign before or after each, padded on the right to the longest."""
    offset = int(before is not None)
    table = np.full((len(rows), max(map(len, rows), default=0) + 1), PAD, np.int64)  # (B, S)
    for line, row in zip(table, rows, strict=True):
        line[offset : offset + len(row)] = row
        if after is not None:
            line[len(row)] = after
    if before is not None:
        table[:, 0] = before
    return torch.from_numpy(table)


class _Flat:
    """Gathers sequences into a `Sequences`."""

    def __init__(self) -> None:
        self.ids = array("i")
        self.lengths = array("i")

    def extend(self, sequences: list[list[int]]) -> None:
        self.ids.extend(chain.from_iterable(sequences))
        self.lengths.extend(map(len, sequences))

    def sequences(self) -> Sequences:
        starts = np.zeros(len(self.lengths) + 1, np.int64)
        np.cumsum(np.frombuffer(self.lengths, np.int32) if self.lengths else [], out=starts[1:])
        return Sequences(np.frombuffer(self.ids, np.int32) if self.ids else np.empty(0, np.int32), starts)
