"""A corpus, read once and cleaned, as a folder on disk.

    text.tsv      every pair that could be used, normalised: source, TAB, target
    blocks.bin    where in text.tsv each block of at most 10,000 pairs begins (bytes), and where the last one ends
    firsts.bin    the number of each block's first pair, and the number of all pairs
    roles.bin     for every pair whether it is for training, for validation, kept aside, or left out
    parts.json    the parts of the corpus (parts.py): their files, weights, counts, and blocks
    counts.json   how many pairs were left out, and why

Nothing of it has to fit into memory. A large corpus is read and normalised in several processes.
"""

import json
import logging
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from transformer.config import DataConfig
from transformer.data.cleaning import Counts, fault, repeated
from transformer.data.corpus import Pair, Portion, check_usable, plain, raw_pairs
from transformer.data.mapped_arrays import append, divide, mapped
from transformer.data.parallel_map import in_order, processes_for
from transformer.data.parts import Part, Smallest, order_hash, sums_of
from transformer.data.prepared_store import reading
from transformer.data.train_valid_overlap import hash_pairs, marks, set_aside, shared, touching
from transformer.errors import CorpusError
from transformer.files.strict_json import parse_json
from transformer.progress_bar import show_progress

log = logging.getLogger(__name__)

TRAIN, VALID, LEFT_OUT, ASIDE = 0, 1, 2, 3  # roles
PLACES, HASHES = ("blocks", "firsts"), ("sources", "targets", "whole")
PORTION = 1_000_000  # bytes of text that take about as long as one portion


@dataclass
class UsedPart:
    """One part of a prepared corpus: how it is used, and what was counted."""

    name: str
    files: dict[str, str]  # path: SHA-256
    weight: int
    tag: str
    blocks: int = 0
    read: int = 0  # pairs
    aside: int = 0  # pairs kept aside
    learnt: int = 0  # pairs for training, each counted once

    def described(self) -> dict[str, object]:
        """For the metrics of a checkpoint: without the folders of this machine."""
        counts = {"read": self.read, "aside": self.aside, "learnt": self.learnt}
        use = {"weight": self.weight} | ({"tag": self.tag} if self.tag else {})
        return {"name": Path(self.name).name} | use | counts | {"sha256": list(self.files.values())}


class TrainingText:
    """The pairs of a prepared corpus, and their counts.

    Args:
        folder: filled by `write_text`.

    Raises:
        CorpusError: (from every method) a file of the folder is damaged; the message says to remove the folder.
    """

    def __init__(self, folder: Path):
        self.folder = folder
        with reading(folder):
            self.counts = Counts.from_file(folder / "counts.json")
            self._blocks, self._firsts = (mapped(folder / f"{name}.bin", np.int64) for name in PLACES)
            self._roles = mapped(folder / "roles.bin", np.uint8)
            size = (folder / "text.tsv").stat().st_size
            self.parts = [UsedPart(**part) for part in parse_json((folder / "parts.json").read_text(encoding="utf-8"))]
            self._part_ends = np.cumsum([part.blocks for part in self.parts])
            if len(self._blocks) - 1 != self._part_ends[-1]:
                raise ValueError("some of its parts are missing")
            if not (divide(self._blocks, size) and divide(self._firsts, len(self._roles))):
                raise ValueError("some of its pairs are missing")

    @property
    def blocks(self) -> int:
        """The number of blocks."""
        return len(self._blocks) - 1

    def pairs(self, block: int, role: int = TRAIN) -> list[Pair]:
        """The pairs of a block that have a role."""
        with reading(self.folder):
            wanted = self._roles[self._firsts[block] : self._firsts[block + 1]] == role
            begin, end = self._blocks[block : block + 2].tolist()
            with (self.folder / "text.tsv").open("rb") as file:
                file.seek(begin)
                lines = file.read(end - begin).decode().split("\n")[:-1]
            chosen = (line.split("\t") for line, want in zip(lines, wanted, strict=True) if want)
            return [(source, target) for source, target in chosen]

    def part(self, block: int) -> UsedPart:
        """The part of the corpus that a block is from."""
        return self.parts[int(np.searchsorted(self._part_ends, block, side="right"))]

    def seen(self, block: int) -> list[Pair]:
        """The training pairs of a block, as often as its part has them seen in an epoch."""
        return self.pairs(block) * self.part(block).weight

    def kept_aside(self) -> dict[str, list[Pair]]:
        """The pairs that parts keep aside, by the name of the part."""
        found: dict[str, list[Pair]] = {}
        for block in range(self.blocks):
            part = self.part(block)
            if part.aside:
                found.setdefault(part.name, []).extend(self.pairs(block, ASIDE))
        return found

    def sentences(self) -> Iterator[str]:
        """Both sides of all training pairs, in turn."""
        return (side for block in range(self.blocks) for pair in self.pairs(block) for side in pair)

    def set_aside(self) -> list[Pair]:
        """The pairs for validation."""
        numbers = np.flatnonzero(self._roles == VALID)
        blocks = np.unique(np.searchsorted(self._firsts, numbers, side="right") - 1)
        return [pair for block in blocks.tolist() for pair in self.pairs(block, VALID)]


def write_text(
    parts: Sequence[Part], valid: Sequence[Pair] | None, config: DataConfig, seed: int, folder: Path
) -> None:
    """Fills an empty folder for `TrainingText`.

    Args:
        valid: validation text; without it config.valid_size pairs are set aside.

    Raises:
        CorpusError: with file and line, a text cannot be read.
    """
    counts, used, aside = _write_usable(parts, config, seed, folder)
    sources, targets = (mapped(folder / f"{name}.bin", np.uint64) for name in HASHES[:2])
    roles = np.full(len(sources), TRAIN, np.uint8)
    if config.drop_duplicates:
        duplicate = repeated(mapped(folder / "whole.bin", np.uint64))
        roles[duplicate] = LEFT_OUT
        counts.duplicates = int(duplicate.sum())
    if len(aside):
        roles[aside] = ASIDE
        like = touching((sources, targets), aside) & (roles == TRAIN)
        roles[like] = LEFT_OUT
        counts.aside, counts.like_aside = len(aside), int(like.sum())
        counts.duplicates = int((roles == LEFT_OUT).sum()) - counts.like_aside
    if valid is None:
        chosen, alike = set_aside(sources, targets, config.valid_size, roles == TRAIN)
        roles[chosen], roles[alike] = VALID, LEFT_OUT
        counts.validation, counts.like_validation = int(chosen.sum()), int(alike.sum())
    else:
        counts.shared = shared((sources, targets), marks(valid, seed), roles == TRAIN)
    _count_learnt(counts, used, roles, mapped(folder / "firsts.bin", np.int64))
    (folder / "roles.bin").write_bytes(roles.tobytes())
    counts.write(folder / "counts.json")
    (folder / "parts.json").write_text(json.dumps([asdict(part) for part in used]), encoding="utf-8")
    for name in HASHES:
        (folder / f"{name}.bin").unlink()


def _count_learnt(counts: Counts, used: Sequence[UsedPart], roles: np.ndarray, firsts: np.ndarray) -> None:
    """Counts the pairs for training, of each part and with the repeats of all."""
    block = 0
    for part in used:
        mine = roles[firsts[block] : firsts[block + part.blocks]]
        part.learnt = int((mine == TRAIN).sum())
        counts.repeats += part.learnt * (part.weight - 1)
        counts.learnt += part.learnt * part.weight
        block += part.blocks


def _write_usable(
    parts: Sequence[Part], config: DataConfig, seed: int, folder: Path
) -> tuple[Counts, list[UsedPart], np.ndarray]:
    """One pass over all text: usable pairs are written to text.tsv, their hashes beside it. Also returns the parts, and
    the numbers of the pairs to keep aside."""
    counts, done, first = Counts(), 0, 0
    used, aside = list[UsedPart](), [np.zeros(0, np.int64)]
    size = sum(part.text.size for part in parts)
    processes = processes_for(size // PORTION, config.workers)
    log.info("Reading %.1f MB of text%s.", size / 1e6, f" in {processes} processes" if processes > 1 else "")
    with ExitStack() as opened:
        text_file = opened.enter_context((folder / "text.tsv").open("wb"))
        arrays = {name: opened.enter_context((folder / f"{name}.bin").open("wb")) for name in (*PLACES, *HASHES)}
        advance = opened.enter_context(show_progress("MB of text"))
        for part in parts:
            text, before, begin = part.text, counts, first
            now, smallest = UsedPart(part.name, sums_of(text), part.weight, part.tag), Smallest(part.aside)
            work = partial(_Reader, part, config, seed)
            for found in opened.enter_context(closing(in_order(work, text.portions(), processes))):
                for name, place in zip(PLACES, (text_file.tell(), first), strict=True):
                    append(arrays[name], np.array([place]), np.int64)
                for name, values in zip(HASHES, found.hashes, strict=True):
                    append(arrays[name], values, np.uint64)
                text_file.write(found.lines)
                smallest.add(found.order, first)
                first += len(found.hashes[0])
                counts += found.counts
                now.blocks += 1
                advance(round((done + found.share * text.size) / 1e6), round(size / 1e6))
            now.read, now.aside = counts.read - before.read, part.aside
            check_usable(text, now.read, counts.empty - before.empty)
            if part.aside and part.aside >= first - begin:
                raise CorpusError(
                    f"{text.name} has {first - begin:,} usable pairs, and aside = {part.aside:,} would leave none to "
                    "learn from. Lower aside."
                )
            used.append(now)
            aside.append(smallest.numbers)
            done += text.size
        for name, place in zip(PLACES, (text_file.tell(), first), strict=True):
            append(arrays[name], np.array([place]), np.int64)
    return counts, used, np.concatenate(aside)


class _Found(NamedTuple):
    """The usable pairs of one portion."""

    lines: bytes
    hashes: tuple[np.ndarray, np.ndarray, np.ndarray]  # of sources, of targets, and of whole pairs (or none)
    order: np.ndarray  # uint64, by which pairs are kept aside (or none)
    counts: Counts
    share: float  # of its text that has been read


class _Reader:
    """Portion -> its usable pairs."""

    def __init__(self, part: Part, config: DataConfig, seed: int):
        self._part, self._config, self._seed = part, config, seed

    def __call__(self, portion: Portion) -> _Found:
        pairs, order, faults = list[Pair](), list[bytes](), Counter[str](read=len(portion.records))
        for raw in raw_pairs(self._part.text, portion):
            source, target = plain(raw)
            if wrong := fault(source, target, self._config):
                faults[wrong] += 1
                continue
            pairs.append((source, target))
            if self._part.aside:
                order.append(order_hash(raw, self._part.in_file_order))
        lines = "".join(f"{source}\t{target}\n" for source, target in pairs).encode()
        whole = hash_pairs(pairs) if self._config.drop_duplicates else np.zeros(0, np.uint64)
        ordered = np.frombuffer(b"".join(order), ">u8").astype(np.uint64)
        return _Found(lines, (*marks(pairs, self._seed), whole), ordered, Counts(**faults), portion.share)
