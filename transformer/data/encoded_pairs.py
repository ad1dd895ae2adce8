"""A corpus as ids: four flat arrays, in memory (toy tasks, validation text) or mapped from files (training text).

Mapped arrays need memory for one batch only. Both kinds are `EncodedPairs`.
"""

import json
import zlib
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from transformer.data.mapped_arrays import append, are_part_starts, mapped
from transformer.files.strict_json import parse_json

FILES = {"source_ids": np.int32, "source_starts": np.int64, "target_ids": np.int32, "target_starts": np.int64}


@dataclass(frozen=True)
class EncodedPairs:
    """N pairs of id sequences, without BOS and EOS: source i is `source_ids[source_starts[i] : source_starts[i +
    1]]`."""

    source_ids: np.ndarray  # int32, all sources end to end
    source_starts: np.ndarray  # (N + 1) int64
    target_ids: np.ndarray  # int32
    target_starts: np.ndarray  # (N + 1) int64
    too_long: int  # how many pairs were left out because they are too long

    def __len__(self) -> int:
        return len(self.source_starts) - 1

    @property
    def lengths(self) -> tuple[np.ndarray, np.ndarray]:
        """The lengths of sources and targets in tokens, (N) int32 each."""
        source, target = (
            np.subtract(starts[1:], starts[:-1], dtype=np.int32, casting="unsafe")
            for starts in (self.source_starts, self.target_starts)
        )
        return source, target

    def lengths_of(self, indices: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The lengths of the sources and the targets with these indices, in tokens."""
        source, target = (starts[indices + 1] - starts[indices] for starts in (self.source_starts, self.target_starts))
        return source, target

    def select(self, indices: Iterable[int]) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """The sources and the targets with these indices."""
        wanted = list(indices)
        sources = [self.source_ids[self.source_starts[i] : self.source_starts[i + 1]] for i in wanted]
        return sources, [self.target_ids[self.target_starts[i] : self.target_starts[i + 1]] for i in wanted]

    @cached_property
    def fingerprint(self) -> str:
        """The number of pairs, and a checksum of all ids."""
        checksum = 0
        for ids in (self.source_ids, self.target_ids):
            for begin in range(0, len(ids), 2**22):  # 16 MB at a time: the ids may be mapped
                checksum = zlib.crc32(ids[begin : begin + 2**22].tobytes(), checksum)
        return f"{len(self)} pairs, {checksum:08x}"


def write_encoded_pairs(parts: Iterable[EncodedPairs], folder: Path, advance: Callable[[int], None]) -> None:
    """Fills an empty folder with the pairs of all parts, one after another, for `read_encoded_pairs`.

    Args:
        advance: called after each part with the number of pairs so far, those left out included.
    """
    too_long = done = 0
    with ExitStack() as opened:
        files = {name: opened.enter_context((folder / f"{name}.bin").open("wb")) for name in FILES}
        ends = {"source": 0, "target": 0}
        for side in ends:
            append(files[f"{side}_starts"], np.zeros(1), np.int64)
        for part in parts:
            for side, end in ends.items():
                ids, starts = getattr(part, f"{side}_ids"), getattr(part, f"{side}_starts")
                append(files[f"{side}_ids"], ids, np.int32)
                append(files[f"{side}_starts"], starts[1:] + end, np.int64)
                ends[side] += len(ids)
            too_long += part.too_long
            done += len(part) + part.too_long
            advance(done)
    about = {"too_long": too_long, "fingerprint": _mapped_pairs(folder, too_long).fingerprint}
    (folder / "about.json").write_text(json.dumps(about), encoding="utf-8")


def read_encoded_pairs(folder: Path) -> EncodedPairs:
    """The pairs of a folder, mapped. Raises ValueError, or another error of NumPy or JSON, if a file is damaged: call
    it inside `reading` (prepared_store.py), which turns these errors into a CorpusError."""
    about = parse_json((folder / "about.json").read_text(encoding="utf-8"))
    pairs = _mapped_pairs(folder, int(about["too_long"]))
    sides = (pairs.source_starts, pairs.source_ids), (pairs.target_starts, pairs.target_ids)
    if not all(are_part_starts(starts, len(ids)) for starts, ids in sides):
        raise ValueError("some of its ids are missing")
    if len(pairs.source_starts) != len(pairs.target_starts):
        raise ValueError("some of its sources have no target, or some targets no source")
    if pairs.fingerprint != about["fingerprint"]:
        raise ValueError("its ids are not those that were written")
    return pairs


def _mapped_pairs(folder: Path, too_long: int) -> EncodedPairs:
    arrays = {name: mapped(folder / f"{name}.bin", kind) for name, kind in FILES.items()}
    return EncodedPairs(**arrays, too_long=too_long)
