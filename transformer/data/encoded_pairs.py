"""Text -> ids: a corpus as flat arrays, in memory if it is small and soon gone, else on disk.

Four arrays hold a corpus: the ids of all sources end to end, where each begins, and the same for the targets. On disk
they are four `.npy` files that are mapped, so that training needs memory for the batch it makes and no more.

With subword sampling (see sampling.py) words are cut anew for each epoch, and names may be swapped (see names.py), so
each epoch has arrays of its own. Chance runs on over 100,000 pairs of text and begins anew for the next, so that the
result does not depend on how many processes share the work.
"""

import json
import random
import zlib
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple

import numpy as np

from transformer.data.corpus import Pair
from transformer.data.mapped_arrays import divide, growing, mapped
from transformer.data.name_swapping import Names
from transformer.data.parallel_map import in_order, processes_for
from transformer.data.prepared_text import TrainingText
from transformer.files.strict_json import parse_json
from transformer.progress_bar import show_progress
from transformer.text.tokenizer import Tokenizer

AT_ONCE = 10_000  # pairs in one call into sentencepiece
BLOCKS_A_SEED = 10  # blocks of text over which chance runs on
FILES = ("source_ids", "source_starts", "target_ids", "target_starts")
KINDS = (np.int32, np.int64, np.int32, np.int64)


@dataclass(frozen=True)
class Sequences:
    """Many sequences of ids in one flat array: a tenth of the memory of lists, or none if the file is mapped."""

    ids: np.ndarray  # int32, all sequences end to end
    starts: np.ndarray  # int64, one more than there are sequences

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __getitem__(self, index: int) -> np.ndarray:
        return self.ids[self.starts[index] : self.starts[index + 1]]

    def __iter__(self) -> Iterator[np.ndarray]:
        return (self[index] for index in range(len(self)))

    @property
    def lengths(self) -> np.ndarray:
        """int32, in pieces: one for each sequence."""
        return np.subtract(self.starts[1:], self.starts[:-1], dtype=np.int32, casting="unsafe")


def fingerprint(sources: Sequences, targets: Sequences) -> str:
    """Their number, and a checksum of all ids."""
    checksum = 0
    for ids in (sources.ids, targets.ids):
        for begin in range(0, len(ids), 2**22):  # a few megabytes at a time: they may be mapped
            checksum = zlib.crc32(ids[begin : begin + 2**22].tobytes(), checksum)
    return f"{len(sources)} pairs, {checksum:08x}"


class IdPairs(NamedTuple):
    """Pairs as ids, without BOS and EOS."""

    sources: Sequences
    targets: Sequences
    too_long: int  # pairs left out


@dataclass(frozen=True)
class Cutting:
    """How text is cut into pieces, and which pairs are left out as too long.

    With `alpha` above 0 words are cut at random (subword sampling), with `swap_names` above 0 names are swapped, as
    `chance` has it.
    """

    model: bytes  # a serialized tokenizer
    max_length: int
    alpha: float = 0.0
    swap_names: float = 0.0
    chance: str = ""  # a seed

    @property
    def by_chance(self) -> bool:
        """Whether each epoch has other ids."""
        return self.alpha > 0 or self.swap_names > 0

    def rng(self, portion: int = 0) -> random.Random:
        """The generator for one portion of the text, counted from 0."""
        return random.Random(f"{self.chance} {portion}" if portion else self.chance)


def encode(tokenizer: Tokenizer, pairs: Iterable[Pair], max_length: int, alpha: float, rng: random.Random) -> IdPairs:
    """Encodes pairs, read as a stream. Those with more than `max_length` pieces on a side are left out and counted."""
    sides: tuple[list[np.ndarray], ...] = ([], [], [], [])  # ids and lengths of the sources, of the targets
    stream, too_long = iter(pairs), 0
    while some := list(islice(stream, AT_ONCE)):
        texts = [side for pair in some for side in pair]
        encoded = [tokenizer.sample(text, alpha, rng) for text in texts] if alpha else tokenizer.encode_batch(texts)
        both = zip(encoded[::2], encoded[1::2], strict=True)
        fits = [pair for pair in both if max(map(len, pair)) <= max_length]
        for side, number in ((0, 0), (1, 2)):
            sides[number].append(np.fromiter(chain.from_iterable(pair[side] for pair in fits), np.int32))
            sides[number + 1].append(np.fromiter((len(pair[side]) for pair in fits), np.int64, len(fits)))
        too_long += len(some) - len(fits)
    joined = [
        np.concatenate([np.zeros(0, kind), *side]) for side, kind in zip(sides, (np.int32, np.int64) * 2, strict=True)
    ]
    return IdPairs(_sequences(*joined[:2]), _sequences(*joined[2:]), too_long)


def _sequences(ids: np.ndarray, lengths: np.ndarray) -> Sequences:
    starts = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=starts[1:])
    return Sequences(ids, starts)


def write_ids(text: TrainingText, cutting: Cutting, workers: int, folder: Path, *, show: bool = True) -> None:
    """Fills an empty folder with the ids of all pairs for training, for `read_ids`; `show`s a bar meanwhile."""
    too_long, done = 0, 0
    portions = -(-text.blocks // BLOCKS_A_SEED) if cutting.by_chance else text.blocks
    work, processes = partial(_Encoder, text.folder, cutting), processes_for(text.blocks, workers)
    with ExitStack() as opened:
        appends = [opened.enter_context(growing(folder / f"{n}.npy", k)) for n, k in zip(FILES, KINDS, strict=True)]
        ends = [0, 0]
        for append in appends[1::2]:
            append(np.zeros(1, np.int64))
        advance = opened.enter_context(show_progress("pairs as ids", show))
        for found in opened.enter_context(closing(in_order(work, range(portions), processes))):
            for side, sequences in enumerate((found.sources, found.targets)):
                appends[2 * side](sequences.ids)
                appends[2 * side + 1](sequences.starts[1:] + ends[side])
                ends[side] += len(sequences.ids)
            too_long += found.too_long
            done += len(found.sources) + found.too_long
            advance(done, text.counts.learnt)
    arrays = _arrays(folder)
    sources, targets = (Sequences(*arrays[i : i + 2]) for i in (0, 2))
    about = {"too_long": too_long, "fingerprint": fingerprint(sources, targets)}
    (folder / "about.json").write_text(json.dumps(about), encoding="utf-8")


def _arrays(folder: Path) -> list[np.ndarray]:
    return [mapped(folder / f"{name}.npy", kind) for name, kind in zip(FILES, KINDS, strict=True)]


def read_ids(folder: Path) -> tuple[Sequences, Sequences, int, str]:
    """Sources, targets, how many pairs were too long, and the fingerprint. Raises ValueError or
    another error, from NumPy or JSON, if a file is damaged: call it inside `reading` (store.py)."""
    source, source_starts, target, target_starts = _arrays(folder)
    if not (divide(source_starts, len(source)) and divide(target_starts, len(target))):
        raise ValueError("some of its ids are missing")
    about = parse_json((folder / "about.json").read_text(encoding="utf-8"))
    sources, targets = Sequences(source, source_starts), Sequences(target, target_starts)
    if fingerprint(sources, targets) != about["fingerprint"]:
        raise ValueError("its ids are not those that were written")
    return sources, targets, int(about["too_long"]), about["fingerprint"]


class _Encoder:
    """Number of a portion -> its ids: a portion is a block, or as many as chance runs on over."""

    def __init__(self, text: Path, cutting: Cutting):
        self._text, self._cutting = TrainingText(text), cutting
        self._tokenizer = Tokenizer.from_bytes(cutting.model)

    def __call__(self, portion: int) -> IdPairs:
        cutting, text = self._cutting, self._text
        size = BLOCKS_A_SEED if cutting.by_chance else 1
        blocks = range(portion * size, min((portion + 1) * size, text.blocks))
        pairs: Iterable[Pair] = (pair for block in blocks for pair in text.pairs(block))
        if cutting.swap_names:
            held = list(pairs)
            names = random.Random(f"names {cutting.chance} {portion}")
            pairs = Names(held).swapped(held, cutting.swap_names, names)
        return encode(self._tokenizer, pairs, cutting.max_length, cutting.alpha, cutting.rng(portion))
