"""Pairs -> ids -> batches of about equally many tokens (paper, section 5.1: 25,000 source and 25,000 target tokens).

A batch is a rectangle, so short sentences beside a long one cost as much as it does. Pairs are therefore sorted by
length and cut into batches of neighbours, each at most `tokens_per_batch` source and so many target tokens with padding
counted. Among equals chance decides, and the order of the batches is drawn anew each epoch: both are functions of
(seed, epoch) alone, so that a resumed training finds its place by two integers.
"""

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from transformer.config import BOS, EOS, PAD
from transformer.data.encoded_pairs import Sequences, encode, fingerprint
from transformer.errors import ConfigError
from transformer.text.tokenizer import Tokenizer

Ids = Sequence[int] | np.ndarray


@dataclass(frozen=True)
class Batch:
    """What one step of training sees, right-padded with PAD. Where `target[b, t]` is read, `labels[b, t]` is due."""

    source: Tensor  # (B, S) long: pieces, EOS
    target: Tensor  # (B, T) long: BOS, pieces
    labels: Tensor  # (B, T) long: pieces, EOS
    target_tokens: int  # labels that are not PAD: what the loss is divided by

    def pinned(self) -> "Batch":
        """The same batch in memory that a GPU reads by itself: only from there `to` does not wait for the copy."""
        source, target, labels = (x.pin_memory() for x in (self.source, self.target, self.labels))
        return Batch(source, target, labels, self.target_tokens)

    def to(self, device: torch.device | str) -> "Batch":
        """The same batch on another device."""
        source, target, labels = (x.to(device, non_blocking=True) for x in (self.source, self.target, self.labels))
        return Batch(source, target, labels, self.target_tokens)


@dataclass(frozen=True)
class EncodedPairs:
    """A corpus as ids, without BOS and EOS."""

    sources: Sequences
    targets: Sequences
    too_long: int  # pairs left out
    fingerprint: str  # changes when the ids do

    def __len__(self) -> int:
        return len(self.sources)

    def batches(self, tokens_per_batch: int, seed: int, epoch: int) -> "Batches":
        """One epoch of batches of indices (see `batch_indices`)."""
        return batch_indices(self.sources.lengths, self.targets.lengths, tokens_per_batch, seed, epoch)

    def collate(self, indices: Iterable[int]) -> Batch:
        """The pairs with these indices as one padded batch."""
        numbers = list(indices)
        return collate([self.sources[i] for i in numbers], [self.targets[i] for i in numbers])


def encode_pairs(
    tokenizer: Tokenizer,
    pairs: Iterable[tuple[str, str]],
    max_length: int,
    *,
    alpha: float = 0.0,
    rng: random.Random | None = None,
) -> EncodedPairs:
    """Encodes a corpus in memory. Pairs with more than `max_length` pieces on a side are left out and counted.

    With `alpha` above 0 and an `rng`, each call draws other segmentations (subword sampling, see sampling.py).
    """
    ids = encode(tokenizer, pairs, max_length, alpha if rng else 0.0, rng or random.Random(0))
    return EncodedPairs(*ids, fingerprint(ids.sources, ids.targets))


@dataclass(frozen=True)
class Batches:
    """An epoch of batches. Number n is an array of indices of pairs; all of them take 4 bytes a pair."""

    order: np.ndarray  # every index once; the pairs of one batch are neighbours
    begins: np.ndarray  # int64: where in `order` each batch begins, and where the last ends
    turns: np.ndarray  # int64: which of them comes first, second, ...

    def __len__(self) -> int:
        return len(self.turns)

    def __getitem__(self, number: int) -> np.ndarray:
        turn = self.turns[number]
        return self.order[self.begins[turn] : self.begins[turn + 1]]

    def __iter__(self) -> Iterator[np.ndarray]:
        return (self[number] for number in range(len(self)))


def batch_indices(
    source_lengths: Sequence[int] | np.ndarray,
    target_lengths: Sequence[int] | np.ndarray,
    tokens_per_batch: int,
    seed: int,
    epoch: int,
) -> Batches:
    """Every index once, in batches of at most `tokens_per_batch` padded source and as many padded target tokens.

    Lengths are in pieces; a row is one longer, for its EOS or BOS. While it sorts, it takes 20 bytes a pair: 0.8 GB for
    40 million, in every process of a training (test_sorting_a_large_corpus_takes_little_memory).

    Raises:
        ConfigError: a pair alone is too long.
    """
    sources, targets = np.asarray(source_lengths, np.int32), np.asarray(target_lengths, np.int32)
    count = len(sources)
    # By the longer side, then by which side is longer and how much, from one extreme to the other and back: so a
    # batch that reaches into the next length goes on with pairs like its own. One number has both, the length above bit
    # 15, and, above the place to which chance has shuffled a pair, sorts in place where two keys would need copies.
    snake = sources - targets
    key = np.maximum(sources, targets)
    key += 1
    longest = int(key.max(initial=0))
    if longest > tokens_per_batch:
        raise ConfigError(
            f"A sentence of {longest} tokens does not fit into a batch of {tokens_per_batch}. "
            "Raise data.tokens_per_batch or lower data.max_length."
        )
    assert max(longest, count >> 17) < 2**14, "too many or too long for the numbers below"
    np.negative(snake, out=snake, where=(key & 1) == 0)
    key <<= 15
    key += snake + 2**14
    del snake
    rng = np.random.default_rng([seed % 2**64, epoch])
    order = np.arange(count, dtype=np.int32)
    rng.shuffle(order)
    ranked = key[order].astype(np.int64)
    del key
    ranked <<= 32
    ranked |= np.arange(count, dtype=np.int32)  # equals stay shuffled
    ranked.sort()
    widths = np.empty(count, np.int32)
    np.right_shift(ranked, 47, out=widths, casting="unsafe")
    ranked &= 2**32 - 1
    order = order[ranked]
    del ranked
    # The widths in this order are the same each epoch, and so would be the cuts; the first batch, smaller by chance,
    # moves them all, so that the few long pairs do not always meet the same others.
    room, begins = int(rng.integers(tokens_per_batch // 2, tokens_per_batch + 1)), [0]
    while begins[-1] < len(widths):
        ahead = widths[
            begins[-1] : begins[-1] + room // int(widths[begins[-1]])
        ]  # more would not fit: widths only rise
        rows = int(np.searchsorted(ahead * np.arange(1, len(ahead) + 1), room, side="right"))
        if rows:  # the first batch may have no room for even one
            begins.append(begins[-1] + rows)
        room = tokens_per_batch
    return Batches(order, np.array(begins), rng.permutation(len(begins) - 1))


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
