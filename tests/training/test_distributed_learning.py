"""Several ranks learn the same as one rank."""

import itertools
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tests.support.ranks import EXACT, assert_same_but_for_rounding, exact, go, together
from tests.support.small_training import corpus_recipe, lines, metadata, toy_recipe
from transformer.config import PAD
from transformer.data.batch_parts import Share
from transformer.data.batches import collate
from transformer.data.encoded_pairs import EncodedPairs
from transformer.training import train
from transformer.training.random_state import dropout_seed


@pytest.mark.parametrize(
    ("size", "accumulate"),
    [pytest.param(2, 1, marks=pytest.mark.soak), pytest.param(3, 2, marks=pytest.mark.soak), (2, 4)],
    ids=["rows", "rows of two batches", "two whole batches each"],
)
def test_ranks_learn_what_one_learns(size: int, accumulate: int, tmp_path: Path) -> None:
    recipe = exact(toy_recipe(accumulate=accumulate, clip_norm=0.5, log_every=1, **EXACT))
    train(recipe, tmp_path / "one", device="cpu")
    assert together(size, go, recipe, tmp_path / "several") == [0] * size
    assert_same_but_for_rounding(tmp_path / "several", tmp_path / "one")


@pytest.mark.soak
def test_ranks_learn_the_same_as_one_with_subwords_sampled_again_in_each_epoch(tmp_path: Path) -> None:
    recipe = exact(corpus_recipe(tmp_path, **EXACT), tokens_per_batch=1500)
    train(recipe, tmp_path / "one", device="cpu")
    assert lines(tmp_path / "one")[-1]["update"] == 12
    assert metadata(tmp_path / "one" / "training.safetensors")["progress"]["epoch"] > 1
    assert together(2, go, recipe, tmp_path / "several") == [0, 0]
    assert_same_but_for_rounding(tmp_path / "several", tmp_path / "one")


def test_a_rank_without_a_row_still_takes_part(tmp_path: Path) -> None:
    """Batches of one row."""
    recipe = exact(toy_recipe(updates=4, **EXACT), toy_min_length=8, toy_max_length=9, tokens_per_batch=21)
    train(recipe, tmp_path / "one", device="cpu")
    assert together(2, go, recipe, tmp_path / "several") == [0, 0]
    assert_same_but_for_rounding(tmp_path / "several", tmp_path / "one")


@given(rows=st.lists(st.integers(1, 9), min_size=1, max_size=6), size=st.integers(1, 9))
def test_the_parts_of_all_ranks_have_every_row_once_and_are_equally_many(rows: list[int], size: int) -> None:
    sentences = [[4 + row] * (1 + row % 3) for row in range(sum(rows))]
    ids, lengths = np.concatenate([np.array(one, np.int32) for one in sentences]), np.array([*map(len, sentences)])
    starts = np.concatenate([np.zeros(1, np.int64), lengths.cumsum()])
    pairs, cuts = EncodedPairs(ids, starts, ids, starts, 0), np.cumsum([0, *rows])
    indices = [np.arange(first, last) for first, last in itertools.pairwise(cuts)]
    batches = [collate(*pairs.select(whole)) for whole in indices]
    parts = []
    for rank in range(size):
        share = Share(rank, size, len(rows))
        mine = [share.batch(pairs, whole, number) for number, whole in enumerate(indices)]
        for number, (one, whole) in enumerate(zip(mine, batches, strict=True)):
            assert one.whole == whole.whole
            cut = share.rows(number)
            if size > 1 and one.target_tokens and cut is not None:  # as if the whole batch had been cut
                assert torch.equal(one.source, whole.source[cut])
                assert torch.equal(one.target, whole.target[cut])
                assert torch.equal(one.labels, whole.labels[cut])
        parts.append([batch for batch in mine if len(batch.labels)])
    assert len({len(mine) for mine in parts}) == 1
    dealt = [batch for mine in parts for batch in mine]
    real = [batch for batch in dealt if batch.target_tokens]
    found = sorted(int(row[0]) for batch in real for row in batch.source)
    assert found == list(range(4, 4 + sum(rows)))
    assert sum(batch.target_tokens for batch in dealt) == sum(batch.target_tokens for batch in batches)
    for batch in dealt:
        assert len(batch.source) > 0
        assert batch.target_tokens == int((batch.labels != PAD).sum())
        assert (batch.source == PAD).all(-1).sum() == 0
    for batch in real:
        same = {*batch.source[batch.source > 3].tolist()}
        assert same == {*batch.labels[batch.labels > 3].tolist()} == {*batch.target[batch.target > 3].tolist()}


def test_every_rank_drops_others() -> None:
    """No two ranks or updates share a dropout seed, even in the 32 bits that torch uses on a CPU. Rank 0 has the seeds
    of a run on one process."""
    seeds = [dropout_seed(7, update, rank) % 2**32 for rank in range(64) for update in range(1000)]
    assert len(set(seeds)) == len(seeds)
    assert dropout_seed(7, 5, 0) == 7 * 1_000_003 + 5
