"""Batches: pairs of similar lengths together, within the number of tokens, in an order that the seed decides."""

import dataclasses
import random
import tracemalloc

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from transformer.checkpoint.length_statistics import lengths_of
from transformer.config import BOS, EOS, PAD
from transformer.data.batches import Batches, batch_indices, collate
from transformer.data.encoding import encode_pairs
from transformer.errors import ConfigError
from transformer.text.tokenizer import Tokenizer

LENGTHS = st.lists(st.tuples(st.integers(0, 39), st.integers(0, 39)), max_size=60)


def test_sorting_a_large_corpus_takes_little_memory() -> None:
    count = 200_000
    sources, targets = np.random.default_rng(0).integers(1, 60, (2, count)).astype(np.int32)
    tracemalloc.start()
    try:
        batches = batch_indices(sources, targets, 4000, 0, 0)
        kept, most = tracemalloc.get_traced_memory()
        assert kept < 4.5 * count
        assert most < 21 * count
        del batches
        tracemalloc.reset_peak()
        lengths_of(sources, targets)
        assert tracemalloc.get_traced_memory()[1] < 4.5 * count
    finally:
        tracemalloc.stop()


def test_the_decoder_reads_bos_first_and_must_end_with_eos() -> None:
    batch = collate([[7, 8, 9]], [[5, 6]])
    assert batch.source.tolist() == [[7, 8, 9, EOS]]
    assert batch.target.tolist() == [[BOS, 5, 6]]
    assert batch.labels.tolist() == [[5, 6, EOS]]
    assert batch.target_tokens == 3


def test_shorter_rows_are_padded_on_the_right() -> None:
    batch = collate([[7], [7, 8, 9], []], [np.array([5, 6, 7, 8]), np.array([], np.int32), np.array([4])])
    assert batch.source.tolist() == [[7, EOS, PAD, PAD], [7, 8, 9, EOS], [EOS, PAD, PAD, PAD]]
    assert batch.target.tolist() == [[BOS, 5, 6, 7, 8], [BOS] + [PAD] * 4, [BOS, 4] + [PAD] * 3]
    assert batch.labels.tolist() == [[5, 6, 7, 8, EOS], [EOS] + [PAD] * 4, [4, EOS] + [PAD] * 3]
    assert {x.dtype for x in (batch.source, batch.target, batch.labels)} == {torch.long}
    assert batch.target_tokens == int((batch.labels != PAD).sum()) == 8


def test_a_batch_cannot_be_changed_and_can_be_moved() -> None:
    batch = collate([[7]], [[5]])
    with pytest.raises(dataclasses.FrozenInstanceError):
        batch.target_tokens = 0  # type: ignore[misc]
    moved = batch.to("meta")
    assert moved.source.is_meta
    assert moved.labels.shape == batch.labels.shape
    assert moved.target_tokens == batch.target_tokens


@given(LENGTHS, st.integers(40, 500), st.integers(-5, 2**70), st.integers(0, 99))
def test_every_pair_occurs_once_in_an_epoch_and_no_batch_is_too_large(
    lengths: list[tuple[int, int]], limit: int, seed: int, epoch: int
) -> None:
    sources, targets = [s for s, _ in lengths], [t for _, t in lengths]
    batches = batch_indices(sources, targets, limit, seed, epoch)
    assert sorted(int(index) for batch in batches for index in batch) == list(range(len(lengths)))
    for batch in batches:
        assert len(batch)
        for side in (sources, targets):
            assert len(batch) * (max(side[index] for index in batch) + 1) <= limit
    again = batch_indices(np.array(sources, int), np.array(targets, int), limit, seed, epoch)
    assert as_lists(batches) == as_lists(again)
    assert as_lists(batches) == batches_pair_by_pair(batches.order.tolist(), sources, targets, limit, seed, epoch)


def batches_pair_by_pair(
    order: list[int], sources: list[int], targets: list[int], limit: int, seed: int, epoch: int
) -> list[list[int]]:
    """The definition of `batch_indices`, one pair after the other."""
    rng = np.random.default_rng([seed % 2**64, epoch])
    rng.permutation(len(order))
    room, batches = int(rng.integers(limit // 2, limit + 1)), list[list[int]]([[]])
    for index in order:
        if (len(batches[-1]) + 1) * (max(sources[index], targets[index]) + 1) > room:
            batches.append([])
            room = limit
        batches[-1].append(index)
    batches = [batch for batch in batches if batch]
    return [batches[turn] for turn in rng.permutation(len(batches))]


def lengths_of_text(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Lengths like those of real pairs: skewed, the two sides alike."""
    rng = np.random.default_rng(1)
    sources = np.clip(rng.lognormal(2.1, 0.45, count), 1, 100).astype(int)
    return sources, np.clip(sources * rng.lognormal(0, 0.25, count), 1, 100).astype(int)


def as_lists(batches: Batches) -> list[list[int]]:
    return [batch.tolist() for batch in batches]


def test_the_order_is_a_function_of_seed_and_epoch() -> None:
    sources, targets = lengths_of_text(5000)
    orders = {(s, e): as_lists(batch_indices(sources, targets, 1000, s, e)) for s in (1, 2) for e in (0, 1)}
    assert orders[1, 0] == as_lists(batch_indices(sources, targets, 1000, 1, 0))
    assert len({str(order) for order in orders.values()}) == 4
    # Not only the order of the batches changes, but also which pairs are in a batch together.
    neighbours = [{frozenset(batch) for batch in order} for order in orders.values()]
    assert len(set.intersection(*neighbours)) <= 1


def test_batches_are_not_ordered_by_length() -> None:
    sources, targets = lengths_of_text(20_000)
    means = [sources[batch].mean() for batch in batch_indices(sources, targets, 1000, 1, 0)]
    assert abs(np.corrcoef(means, np.arange(len(means)))[0, 1]) < 0.3


def test_few_positions_are_padding() -> None:
    sources, targets = lengths_of_text(50_000)
    batches = batch_indices(sources, targets, 3000, 1, 0)
    room = sum(len(batch) * (sources[batch].max() + targets[batch].max() + 2) for batch in batches)
    assert (sources + 1).sum() + (targets + 1).sum() > 0.95 * room
    filled = [len(batch) * (max(sources[batch].max(), targets[batch].max()) + 1) / 3000 for batch in batches]
    assert np.mean(filled) > 0.95


def test_for_a_pair_larger_than_a_batch_the_error_says_what_to_do() -> None:
    with pytest.raises(ConfigError, match=r"41 tokens does not fit into a batch of 40\. Raise data\.tokens_per_batch"):
        batch_indices([1, 40], [1, 1], 40, 1, 0)


def test_encoded_pairs_are_what_the_tokenizer_encodes(tokenizer: Tokenizer, pairs: list[tuple[str, str]]) -> None:
    encoded = encode_pairs(tokenizer, iter(pairs), 100)
    assert len(encoded) == len(pairs)
    assert encoded.too_long == 0
    sources, targets = encoded.select(range(len(pairs)))
    assert [ids.tolist() for ids in sources] == [tokenizer.encode(source) for source, _ in pairs]
    assert [ids.tolist() for ids in targets] == [tokenizer.encode(target) for _, target in pairs]
    assert encoded.lengths[0].tolist() == [len(tokenizer.encode(source)) for source, _ in pairs]
    assert encoded.lengths[1].tolist() == [len(tokenizer.encode(target)) for _, target in pairs]


@pytest.mark.parametrize("at_once", [1, 7, 10_000])
def test_pairs_that_are_too_long_are_left_out_and_counted(
    at_once: int, unigram: Tokenizer, pairs: list[tuple[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("transformer.data.encoding.AT_ONCE", at_once)
    limit = int(np.median([len(unigram.encode(source)) for source, _ in pairs])) + 2
    fits = [pair for pair in pairs if all(len(unigram.encode(side)) <= limit for side in pair)]
    encoded = encode_pairs(unigram, pairs, limit)
    assert 0 < len(fits) < len(pairs)
    assert (len(encoded), encoded.too_long) == (len(fits), len(pairs) - len(fits))
    _, targets = encoded.select(range(len(fits)))
    assert [unigram.decode(ids.tolist()) for ids in targets] == [target for _, target in fits]


def test_no_pairs_make_no_batches(unigram: Tokenizer) -> None:
    encoded = encode_pairs(unigram, [], 100)
    assert len(encoded) == 0
    assert list(batch_indices(*encoded.lengths, 1000, 1, 0)) == []


def test_an_epoch_of_batches_holds_the_whole_corpus(unigram: Tokenizer, pairs: list[tuple[str, str]]) -> None:
    encoded = encode_pairs(unigram, pairs, 100)
    seen = []
    for indices in batch_indices(*encoded.lengths, 80, 1, 0):
        batch = collate(*encoded.select(indices))
        assert max(batch.source.numel(), batch.target.numel()) <= 80
        seen += [
            (unigram.decode(source), unigram.decode(labels))
            for source, labels in zip(batch.source.tolist(), batch.labels.tolist(), strict=True)
        ]
    assert sorted(seen) == sorted(pairs)


def test_subword_sampling_is_random_and_repeats_with_the_same_generator(
    tokenizer: Tokenizer, pairs: list[tuple[str, str]]
) -> None:
    first, again, other = (encode_pairs(tokenizer, pairs, 100, alpha=0.3, rng=random.Random(s)) for s in (1, 1, 2))
    assert first.source_ids.tolist() == again.source_ids.tolist() != other.source_ids.tolist()
    _, targets = other.select(range(len(pairs)))
    assert [tokenizer.decode(ids.tolist()) for ids in targets] == [target for _, target in pairs]
