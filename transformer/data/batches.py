"""Pairs -> ids -> batches of about equally many tokens (paper, section 5.1: 25,000 source and 25,000 target tokens).

A batch is a rectangle, so a short sentence costs as much as the longest one in its batch. Pairs are therefore sorted
by length and cut into batches of neighbours, each of at most `tokens_per_batch` source tokens and as many target
tokens, padding included. In each epoch, pairs of equal length are shuffled, and the order of the batches is random.
Both depend only on (seed, epoch), so a position in the training is two integers: epoch, and number of the batch.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from transformer.config import BOS, EOS, PAD
from transformer.errors import ConfigError

Ids = Sequence[int] | np.ndarray


class BatchSize(NamedTuple):
    """B, S and T of a batch, and how many of its labels are not PAD."""

    rows: int
    source_length: int
    target_length: int
    target_tokens: int


@dataclass(frozen=True)
class Batch:
    """The input of one training step, right-padded with PAD. `labels[b, t]` is predicted from `target[b, : t + 1]`."""

    source: Tensor  # (B, S) long: tokens, EOS
    target: Tensor  # (B, T) long: BOS, tokens
    labels: Tensor  # (B, T) long: tokens, EOS
    target_tokens: int  # labels that are not PAD
    part_of: BatchSize | None = None  # the batch of all ranks, if this is one rank's part of it (batch_parts.py)

    @property
    def whole(self) -> BatchSize:
        """The size of the batch of all ranks. The loss is divided by the number of its target tokens."""
        rows, source_length = self.source.shape
        return self.part_of or BatchSize(rows, source_length, self.target.shape[1], self.target_tokens)

    def without_targets(self) -> "Batch":
        """The same batch with nothing to predict."""
        return replace(self, labels=torch.full_like(self.labels, PAD), target_tokens=0)

    def pinned(self) -> "Batch":
        """The same batch in pinned memory, from which `to` copies to a GPU without waiting."""
        source, target, labels = (x.pin_memory() for x in (self.source, self.target, self.labels))
        return replace(self, source=source, target=target, labels=labels)

    def to(self, device: torch.device | str) -> "Batch":
        """The same batch on another device."""
        source, target, labels = (x.to(device, non_blocking=True) for x in (self.source, self.target, self.labels))
        return replace(self, source=source, target=target, labels=labels)


@dataclass(frozen=True)
class Batches:
    """The batches of an epoch: item n has the indices of the pairs in batch n. The indices take 4 bytes per pair."""

    order: np.ndarray  # every index once; the pairs of one batch are neighbours
    begins: np.ndarray  # int64: where in `order` each batch begins, and where the last one ends
    batch_order: np.ndarray  # int64: the numbers of the batches in the order in which they are taken

    def __len__(self) -> int:
        return len(self.batch_order)

    def __getitem__(self, number: int) -> np.ndarray:
        batch = self.batch_order[number]
        return self.order[self.begins[batch] : self.begins[batch + 1]]

    def __iter__(self) -> Iterator[np.ndarray]:
        return (self[number] for number in range(len(self)))


def batch_indices(
    source_lengths: Sequence[int] | np.ndarray,
    target_lengths: Sequence[int] | np.ndarray,
    tokens_per_batch: int,
    seed: int,
    epoch: int,
) -> Batches:
    """Divides the indices of all pairs into batches of at most `tokens_per_batch` source tokens and as many target
    tokens, padding included.

    Lengths are in tokens, without EOS and BOS; a row of a batch is one token longer. Sorting takes 20 bytes per
    pair: 0.8 GB for 40 million, in every process of a training (test_sorting_a_large_corpus_takes_little_memory).

    Raises:
        ConfigError: a single pair is too long.
    """
    sources, targets = np.asarray(source_lengths, np.int32), np.asarray(target_lengths, np.int32)
    longest = 1 + int(max(sources.max(initial=-1), targets.max(initial=-1)))
    if longest > tokens_per_batch:
        raise ConfigError(
            f"A sentence of {longest} tokens does not fit into a batch of {tokens_per_batch}. "
            "Raise data.tokens_per_batch or lower data.max_length."
        )
    assert max(longest, len(sources) >> 17) < 2**14, "too many or too long for the numbers in `_sorted`"
    rng = np.random.default_rng([seed % 2**64, epoch])
    order, widths = _sorted(sources, targets, rng)
    begins = _cuts(widths, tokens_per_batch, rng)
    return Batches(order, begins, rng.permutation(len(begins) - 1))


def _sorted(sources: np.ndarray, targets: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """The indices of pairs with these lengths (N), sorted by length, and the width of each in a batch: (N), (N) int32.

    Pairs are sorted by the length of the longer side, then by the difference of the sides. The difference rises at one
    length and falls at the next, so a batch that continues into the next length contains similar pairs. Pairs that are
    equal in both are in random order.

    All this is in the bits of one number per pair, which is sorted in place; sorting by separate arrays would need
    copies. Bits 47 and above are the width, bits 32 to 46 the difference, and the lower 32 the shuffled place.
    """
    key = np.maximum(sources, targets)
    key += 1
    difference = sources - targets
    np.negative(difference, out=difference, where=(key & 1) == 0)
    key <<= 15
    key += difference + 2**14
    del difference
    order = np.arange(len(key), dtype=np.int32)
    rng.shuffle(order)
    ranked = key[order].astype(np.int64)
    del key
    ranked <<= 32
    ranked |= np.arange(len(order), dtype=np.int32)
    ranked.sort()
    widths = np.empty(len(order), np.int32)
    np.right_shift(ranked, 47, out=widths, casting="unsafe")
    ranked &= 2**32 - 1
    return order[ranked], widths


def _cuts(widths: np.ndarray, tokens_per_batch: int, rng: np.random.Generator) -> np.ndarray:
    """Where batches begin in pairs of these widths (N), which rise; and N itself.

    The sorted widths are the same in each epoch, so they would always be cut at the same places. A first batch of
    random size moves all cuts. Otherwise the few long pairs would be in a batch with the same pairs in each epoch.
    """
    room, begins = int(rng.integers(tokens_per_batch // 2, tokens_per_batch + 1)), [0]
    while begins[-1] < len(widths):
        begin = begins[-1]
        most = widths[begin : begin + room // int(widths[begin])]  # more would not fit, because widths only rise
        rows = int(np.searchsorted(most * np.arange(1, len(most) + 1), room, side="right"))
        if rows:  # the first batch may be too small for a single pair
            begins.append(begin + rows)
        room = tokens_per_batch
    return np.array(begins)


def collate(sources: Sequence[Ids], targets: Sequence[Ids], part_of: BatchSize | None = None) -> Batch:
    """Ids without BOS and EOS -> a padded batch. From `BOS a b` the decoder predicts `a b EOS` (section 3.1).

    Args:
        part_of: a larger batch, to whose lengths the rows are padded.
    """
    widths = (part_of.source_length, part_of.target_length) if part_of else (0, 0)
    source = _rectangle(sources, widths[0], after=EOS)  # (B, S)
    # Trap: labels must be one position ahead of the target, or the decoder would read the token that it must predict
    # (test_the_decoder_reads_bos_first_and_must_end_with_eos).
    target = _rectangle(targets, widths[1], before=BOS)  # (B, T)
    labels = _rectangle(targets, widths[1], after=EOS)  # (B, T)
    return Batch(source, target, labels, sum(len(ids) + 1 for ids in targets), part_of)


def _rectangle(rows: Sequence[Ids], width: int, before: int | None = None, after: int | None = None) -> Tensor:
    """Rows of ids with a special token before or after each, padded on the right to the longest row, or to `width`
    if that is more."""
    offset = int(before is not None)
    table = np.full((len(rows), max(width, max(map(len, rows), default=0) + 1)), PAD, np.int64)  # (B, S)
    for line, row in zip(table, rows, strict=True):
        line[offset : offset + len(row)] = row
        if after is not None:
            line[len(row)] = after
    if before is not None:
        table[:, 0] = before
    return torch.from_numpy(table)
