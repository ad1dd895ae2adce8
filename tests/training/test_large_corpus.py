"""A corpus of a million pairs is prepared and trained on in memory that any laptop has, and that does not grow."""

from pathlib import Path

import pytest

from tests.benchmarks.corpora import Cost, cost, write_corpus

MOST = 1.5e9  # bytes resident in the process that trains, all counted


def costs(folder: Path, pairs: int) -> tuple[Cost, Cost]:
    """Of a first run, and of one that finds all prepared."""
    corpus = write_corpus(folder / f"{pairs}.tsv", pairs)
    return cost(corpus, folder / f"first-{pairs}"), cost(corpus, folder / f"next-{pairs}")


@pytest.mark.soak
def test_a_million_pairs_are_trained_on_in_little_memory(tmp_path: Path) -> None:
    first, following = costs(tmp_path, 1_000_000)
    print(f"a million pairs: {first}, then {following}")
    assert first.peak < MOST
    assert first.workers < MOST / 2  # while text is read and cut, when the process that trains is still small
    assert following.peak < MOST / 2
    assert following.seconds < first.seconds / 5


def test_what_is_measured_is_what_a_run_takes(tmp_path: Path) -> None:
    first, following = costs(tmp_path, 2000)
    for found in (first, following):
        assert 0.1e9 < found.own <= found.peak < MOST / 2
        assert 0 <= found.workers < found.peak
        assert found.seconds > 0
