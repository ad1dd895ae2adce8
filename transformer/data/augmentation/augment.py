"""All changes of [data.augment], in the order in which they are applied to a pair.

    numbers        "at 7:45" / "um 7:45"   -> "at 10:20" / "um 10:20"              number_swapping.py
    copy           "Hi." / "Hallo."        -> "Hallo." / "Hallo."                  this file
    join           two or three pairs in one                                       this file
    source noise   "Where is it?"          -> "WHERE IS IT?"  "where is ti?"       source_noise.py

Copying the target to the source is from Currey et al. 2017 (aclanthology.org/W17-4715): it teaches that a word which
the model does not know stays as it is. Each pair becomes one pair, so augmentation does not change the size of an
epoch. A random generator with the same seed makes the same changes.
"""

import random
from collections.abc import Iterator, Sequence

from transformer.data.augmentation.number_swapping import swap_numbers
from transformer.data.augmentation.source_noise import noisy
from transformer.data.corpus import Pair
from transformer.data.mix_options import Augmentation
from transformer.text.normalisation import normalise
from transformer.text.tokenizer import Tokenizer

NEARBY = 1000  # the pairs to append are chosen among so many that follow: most are of the same part of the text
MOST_CHARACTERS = 200  # other pairs are only appended to sources with fewer characters
THREE = 0.3  # the share of joined pairs that are made of three pairs


def augmented(pairs: Sequence[Pair], rates: Augmentation, rng: random.Random, tokenizer: Tokenizer) -> Iterator[Pair]:
    """The pairs, each changed with the given probabilities. `tokenizer`: of the sources."""
    for number, pair in enumerate(pairs):
        changed = swap_numbers(pair, rates, rng)
        if rng.random() < rates.copy:
            changed = normalise(changed[1]), changed[1]  # as every source is read
        elif rng.random() < rates.join and len(changed[0]) < MOST_CHARACTERS and len(pairs) > 1:
            changed = _joined(pairs, number, changed, rng)
        yield noisy(changed[0], rates, rng, tokenizer), changed[1]


def _joined(pairs: Sequence[Pair], number: int, pair: Pair, rng: random.Random) -> Pair:
    """The pair, followed by one or two that are near it in the text."""
    reach = min(NEARBY, len(pairs) - 1)
    for _ in range(2 if rng.random() < THREE else 1):
        source, target = pairs[(number + 1 + rng.randrange(reach)) % len(pairs)]
        pair = f"{pair[0]} {source}", f"{pair[1]} {target}"
    return pair
