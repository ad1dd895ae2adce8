"""Pairs of ids in files: what is written is read, and a damaged file is refused."""

from pathlib import Path

import numpy as np
import pytest

from transformer.data.encoded_pairs import EncodedPairs, read_encoded_pairs, write_encoded_pairs

STARTS = np.array([0, 2, 3, 6])


def written(folder: Path) -> Path:
    ids = np.arange(10, 16, dtype=np.int32)
    write_encoded_pairs([EncodedPairs(ids, STARTS, ids[::-1], STARTS, 0)], folder, lambda done: None)
    return folder


def test_what_is_written_is_read(tmp_path: Path) -> None:
    sources, targets = read_encoded_pairs(written(tmp_path)).select(range(3))
    assert [each.tolist() for each in sources] == [[10, 11], [12], [13, 14, 15]]
    assert [each.tolist() for each in targets] == [[15, 14], [13], [12, 11, 10]]


@pytest.mark.parametrize("side", ["source", "target"])
def test_sources_and_targets_of_different_numbers_are_refused(side: str, tmp_path: Path) -> None:
    """Where a place in the middle is lost, all ids are there, and the others still divide them into sequences."""
    (written(tmp_path) / f"{side}_starts.bin").write_bytes(np.delete(STARTS, 1).astype(np.int64).tobytes())
    with pytest.raises(ValueError, match=r"no target, or some targets no source|not those that were written"):
        read_encoded_pairs(tmp_path)
