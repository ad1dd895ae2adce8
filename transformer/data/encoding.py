"""Text -> ids: in memory, or written to files by several processes.

With subword sampling (text/subword_sampling.py) words are segmented at random in each epoch. Names may be swapped, and
pairs changed (augmentation/). With any of these, each epoch has its own ids. Every ten blocks of text, at most 100,000
pairs (repeats not counted), have a random generator of their own, so the result does not depend on how many processes
share the work.
"""

import random
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from pathlib import Path

import numpy as np

from transformer.data.augmentation.augment import augmented
from transformer.data.augmentation.name_swapping import Names
from transformer.data.corpus import Pair
from transformer.data.encoded_pairs import EncodedPairs, write_encoded_pairs
from transformer.data.mix_options import Augmentation
from transformer.data.parallel_map import in_order, processes_for
from transformer.data.prepared_text import TrainingText
from transformer.progress_bar import show_progress
from transformer.text.pair_tokenizer import read_tokenizer
from transformer.text.tokenizer import Tokenizer

AT_ONCE = 10_000  # pairs in one call of sentencepiece
BLOCKS_PER_GENERATOR = 10  # blocks of text that one random generator serves


@dataclass(frozen=True)
class Segmentation:
    """How text becomes tokens, and which pairs are left out as too long.

    With `alpha` above 0 words are segmented at random (subword sampling), with `swap_names` above 0 names are swapped,
    with `augment` pairs are changed; `seed` determines all random choices.
    """

    model: bytes  # a serialized tokenizer
    max_length: int  # tokens
    alpha: float = 0.0
    swap_names: float = 0.0
    augment: Augmentation = Augmentation()  # noqa: RUF009 (it is frozen)
    seed: str = ""

    @property
    def is_random(self) -> bool:
        """Whether each epoch has different ids."""
        return self.alpha > 0 or self.swap_names > 0 or self.augment.is_on

    def rng(self, portion: int = 0) -> random.Random:
        """The generator for one portion of the text, counted from 0."""
        return random.Random(f"{self.seed} {portion}" if portion else self.seed)


def encode_pairs(
    tokenizer: Tokenizer, pairs: Iterable[Pair], max_length: int, alpha: float = 0.0, rng: random.Random | None = None
) -> EncodedPairs:
    """Encodes pairs, read as a stream. Those with more than `max_length` tokens on a side are left out and counted.

    With `alpha` above 0 and an `rng`, each call draws different segmentations (subword sampling).
    """
    sides: tuple[list[np.ndarray], ...] = ([np.zeros(0, np.int32)], [np.zeros(0, np.int32)])
    lengths: tuple[list[np.ndarray], ...] = ([np.zeros(1, np.int64)], [np.zeros(1, np.int64)])
    stream, too_long = iter(pairs), 0
    first, second = tokenizer, tokenizer.target
    while some := list(islice(stream, AT_ONCE)):
        if rng is not None and alpha > 0:
            # Pair by pair, so that the segmentations do not depend on how many pairs are encoded at once.
            both = [(first.sample(text, alpha, rng), second.sample(other, alpha, rng)) for text, other in some]
        else:
            texts, translations = (list(side) for side in zip(*some, strict=True))
            both = list(zip(first.encode_batch(texts), second.encode_batch(translations), strict=True))
        fits = [pair for pair in both if max(map(len, pair)) <= max_length]
        for side in (0, 1):
            sides[side].append(np.fromiter(chain.from_iterable(pair[side] for pair in fits), np.int32))
            lengths[side].append(np.fromiter((len(pair[side]) for pair in fits), np.int64, len(fits)))
        too_long += len(some) - len(fits)
    (sources, source_starts), (targets, target_starts) = (
        (np.concatenate(sides[side]), np.cumsum(np.concatenate(lengths[side]))) for side in (0, 1)
    )
    return EncodedPairs(sources, source_starts, targets, target_starts, too_long)


def encode_text(
    text: TrainingText, segmentation: Segmentation, workers: int, folder: Path, *, show: bool = True
) -> None:
    """Fills an empty folder with the ids of all training pairs, for `read_encoded_pairs`. `show`: whether to display
    a progress bar."""
    size = BLOCKS_PER_GENERATOR if segmentation.is_random else 1
    portions = range(-(-text.blocks // size))
    work, processes = partial(_Encoder, text.folder, segmentation), processes_for(text.blocks, workers)
    with show_progress("pairs as ids", show) as advance, closing(in_order(work, portions, processes)) as parts:
        write_encoded_pairs(parts, folder, lambda done: advance(done, text.counts.learnt))


class _Encoder:
    """Number of a portion -> its pairs. A portion is a block, or the blocks that one random generator serves."""

    def __init__(self, text: Path, segmentation: Segmentation):
        self._text, self._segmentation = TrainingText(text), segmentation
        self._tokenizer = read_tokenizer(segmentation.model)

    def __call__(self, portion: int) -> EncodedPairs:
        how, text = self._segmentation, self._text
        size = BLOCKS_PER_GENERATOR if how.is_random else 1
        blocks = range(portion * size, min((portion + 1) * size, text.blocks))
        pairs, tags = list[Pair](), list[str]()
        for block in blocks:
            seen = text.seen(block)
            pairs += seen
            tags += [text.part(block).tag] * len(seen)
        changed: Iterable[Pair] = pairs
        if how.swap_names:
            changed = Names(pairs).swapped(pairs, how.swap_names, random.Random(f"names {how.seed} {portion}"))
        if how.augment.is_on:
            rng = random.Random(f"augment {how.seed} {portion}")
            changed = augmented(list(changed), how.augment, rng, self._tokenizer)
        tagged = ((f"{tag} {pair[0]}" if tag else pair[0], pair[1]) for tag, pair in zip(tags, changed, strict=True))
        return encode_pairs(self._tokenizer, tagged, how.max_length, how.alpha, how.rng(portion))
