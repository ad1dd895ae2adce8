"""A corpus, read once and cleaned, as a folder on disk. text_preparation.py writes it.

    text.tsv      every pair that could be used, normalised: source, TAB, target
    blocks.bin    where in text.tsv each block of at most 10,000 pairs begins (bytes), and where the last one ends
    firsts.bin    the number of each block's first pair, and the number of all pairs
    roles.bin     for every pair whether it is for training, for validation, kept aside, or left out
    parts.json    the parts of the corpus (parts.py): their files, weights, counts, and blocks
    counts.json   how many pairs were left out, and why

The text does not have to fit into memory.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from transformer.data.cleaning import Counts
from transformer.data.corpus import Pair
from transformer.data.mapped_arrays import are_part_starts, mapped
from transformer.data.parts import Part
from transformer.data.prepared_store import reading
from transformer.files.strict_json import parse_json

TRAIN, VALID, LEFT_OUT, ASIDE = 0, 1, 2, 3  # roles
PLACES = ("blocks", "firsts")


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
    skipped: int = 0  # lines that cannot be read
    first_skipped: list[str] = field(default_factory=list)  # file, line and fault of the first of them
    is_real: bool = True  # people wrote both sides

    def described(self) -> dict[str, object]:
        """The part for the metrics of a checkpoint, without the names of folders on this machine."""
        counts = {"read": self.read, "aside": self.aside, "learnt": self.learnt}
        counts |= {"skipped": self.skipped} if self.skipped else {}
        use = {"weight": self.weight} | ({"tag": self.tag} if self.tag else {})
        return {"name": Path(self.name).name} | use | counts | {"sha256": list(self.files.values())}


class TrainingText:
    """The pairs of a prepared corpus, and their counts.

    Args:
        folder: filled by `write_text`.
        parts: the parts of the same text with the current names of its files, which may have moved since `folder` was
            filled.

    Raises:
        CorpusError: (from every method) a file of the folder is damaged; the message says to remove the folder.
    """

    def __init__(self, folder: Path, parts: Sequence[Part] = ()):
        self.folder = folder
        with reading(folder):
            self.counts = Counts.from_file(folder / "counts.json")
            self._blocks, self._firsts = (mapped(folder / f"{name}.bin", np.int64) for name in PLACES)
            self._roles = mapped(folder / "roles.bin", np.uint8)
            size = (folder / "text.tsv").stat().st_size
            self.parts = [UsedPart(**part) for part in parse_json((folder / "parts.json").read_text(encoding="utf-8"))]
            for used, part in zip(self.parts, parts, strict=bool(parts)):
                sums = zip(map(str, part.text.files), used.files.values(), strict=False)
                used.name, used.files, used.is_real = part.name, dict(sums), part.is_real
            self._part_ends = np.cumsum([part.blocks for part in self.parts])
            if len(self._blocks) - 1 != self._part_ends[-1]:
                raise ValueError("some of its parts are missing")
            if not (are_part_starts(self._blocks, size) and are_part_starts(self._firsts, len(self._roles))):
                raise ValueError("some of its pairs are missing")

    @property
    def blocks(self) -> int:
        """The number of blocks."""
        return len(self._blocks) - 1

    def size(self, block: int) -> int:
        """The number of pairs of a block, whatever their role."""
        return int(self._firsts[block + 1] - self._firsts[block])

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
        """The training pairs of a block, repeated as often as an epoch has them (the weight of their part)."""
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

    def validation_pairs(self) -> list[Pair]:
        """The pairs for validation."""
        numbers = np.flatnonzero(self._roles == VALID)
        blocks = np.unique(np.searchsorted(self._firsts, numbers, side="right") - 1)
        return [pair for block in blocks.tolist() for pair in self.pairs(block, VALID)]
