"""A corpus, read once and cleaned, as a folder on disk.

    text.tsv      every pair that could be used, normalised: source, TAB, target
    blocks.bin    where in text.tsv each block of at most 10,000 pairs begins (bytes), and where the last one ends
    firsts.bin    the number of each block's first pair, and the number of all pairs
    roles.bin     for every pair whether it is for training, for validation, or left out
    counts.json   how many pairs were left out, and why

Nothing of it has to fit into memory. A large corpus is read and normalised in several processes.
"""

import logging
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from transformer.config import DataConfig
from transformer.data.cleaning import Counts, fault, repeated
from transformer.data.corpus import Pair, Portion, Text, check_usable, plain_pairs
from transformer.data.mapped_arrays import append, divide, mapped
from transformer.data.parallel_map import in_order, processes_for
from transformer.data.prepared_store import reading
from transformer.data.train_valid_overlap import hash_pairs, marks, set_aside, shared
from transformer.progress_bar import show_progress

log = logging.getLogger(__name__)

TRAIN, VALID, LEFT_OUT = 0, 1, 2  # roles
PLACES, HASHES = ("blocks", "firsts"), ("sources", "targets", "whole")
PORTION = 1_000_000  # bytes of text that take about as long as one portion


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

    def sentences(self) -> Iterator[str]:
        """Both sides of all training pairs, in turn."""
        return (side for block in range(self.blocks) for pair in self.pairs(block) for side in pair)

    def set_aside(self) -> list[Pair]:
        """The pairs for validation."""
        numbers = np.flatnonzero(self._roles == VALID)
        blocks = np.unique(np.searchsorted(self._firsts, numbers, side="right") - 1)
        return [pair for block in blocks.tolist() for pair in self.pairs(block, VALID)]


def write_text(
    texts: Sequence[Text], valid: Sequence[Pair] | None, config: DataConfig, seed: int, folder: Path
) -> None:
    """Fills an empty folder for `TrainingText`.

    Args:
        valid: validation text; without it config.valid_size pairs are set aside.

    Raises:
        CorpusError: with file and line, a text cannot be read.
    """
    counts = _write_usable(texts, config, seed, folder)
    sources, targets = (mapped(folder / f"{name}.bin", np.uint64) for name in HASHES[:2])
    roles = np.full(len(sources), TRAIN, np.uint8)
    if config.drop_duplicates:
        duplicate = repeated(mapped(folder / "whole.bin", np.uint64))
        roles[duplicate] = LEFT_OUT
        counts.duplicates = int(duplicate.sum())
    if valid is None:
        aside, alike = set_aside(sources, targets, config.valid_size, roles == TRAIN)
        roles[aside], roles[alike] = VALID, LEFT_OUT
        counts.validation, counts.like_validation = int(aside.sum()), int(alike.sum())
    else:
        counts.shared = shared((sources, targets), marks(valid, seed), roles == TRAIN)
    counts.learnt = int((roles == TRAIN).sum())
    (folder / "roles.bin").write_bytes(roles.tobytes())
    counts.write(folder / "counts.json")
    for name in HASHES:
        (folder / f"{name}.bin").unlink()


def _write_usable(texts: Sequence[Text], config: DataConfig, seed: int, folder: Path) -> Counts:
    """One pass over all text: usable pairs are written to text.tsv, their hashes beside it."""
    counts, done, first = Counts(), 0, 0
    size = sum(text.size for text in texts)
    processes = processes_for(size // PORTION, config.workers)
    log.info("Reading %.1f MB of text%s.", size / 1e6, f" in {processes} processes" if processes > 1 else "")
    with ExitStack() as opened:
        text_file = opened.enter_context((folder / "text.tsv").open("wb"))
        arrays = {name: opened.enter_context((folder / f"{name}.bin").open("wb")) for name in (*PLACES, *HASHES)}
        advance = opened.enter_context(show_progress("MB of text"))
        for text in texts:
            before = counts
            work = partial(_Reader, text, config, seed)
            for found in opened.enter_context(closing(in_order(work, text.portions(), processes))):
                for name, place in zip(PLACES, (text_file.tell(), first), strict=True):
                    append(arrays[name], np.array([place]), np.int64)
                for name, values in zip(HASHES, found.hashes, strict=True):
                    append(arrays[name], values, np.uint64)
                text_file.write(found.lines)
                first += len(found.hashes[0])
                counts += found.counts
                advance(round((done + found.share * text.size) / 1e6), round(size / 1e6))
            check_usable(text, counts.read - before.read, counts.empty - before.empty)
            done += text.size
        for name, place in zip(PLACES, (text_file.tell(), first), strict=True):
            append(arrays[name], np.array([place]), np.int64)
    return counts


class _Found(NamedTuple):
    """The usable pairs of one portion."""

    lines: bytes
    hashes: tuple[np.ndarray, np.ndarray, np.ndarray]  # of sources, of targets, and of whole pairs (or none)
    counts: Counts
    share: float  # of its text that has been read


class _Reader:
    """Portion -> its usable pairs."""

    def __init__(self, text: Text, config: DataConfig, seed: int):
        self._text, self._config, self._seed = text, config, seed

    def __call__(self, portion: Portion) -> _Found:
        pairs, faults = list[Pair](), Counter[str](read=len(portion.records))
        for source, target in plain_pairs(self._text, portion):
            if wrong := fault(source, target, self._config):
                faults[wrong] += 1
            else:
                pairs.append((source, target))
        lines = "".join(f"{source}\t{target}\n" for source, target in pairs).encode()
        whole = hash_pairs(pairs) if self._config.drop_duplicates else np.zeros(0, np.uint64)
        return _Found(lines, (*marks(pairs, self._seed), whole), Counts(**faults), portion.share)
