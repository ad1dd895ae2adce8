"""Training and validation text must not share sentences, or scores would measure what was memorised.

Sentences count as equal if they differ only in case, punctuation or white space ("Go!" and "go."). Two 64-bit
hashes per pair are compared. They may be mapped from files, so the text does not have to be in memory.

The hash of a source is that of the seed and the source; the sources with the smallest hashes are set aside for
validation. So the choice is random, keeps all pairs of one source together, and does not depend on the order of the
pairs.
"""

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Iterator

import numpy as np

from transformer.data.corpus import Pair

_BETWEEN_WORDS = re.compile(r"[\W_]+")
AT_ONCE = 1_000_000  # pairs processed together


def sentence_hashes(pairs: Iterable[Pair], seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Two hashes (uint64) for each pair: of its source with the seed, and of its target."""
    keys = [(_hash(f"{seed}".encode() + key(source)), key(target)) for source, target in pairs]
    both = np.frombuffer(b"".join(part for pair in keys for part in pair), ">u8").astype(np.uint64)
    return both[::2], both[1::2]


def hash_pairs(pairs: Iterable[Pair]) -> np.ndarray:
    """A hash (uint64) of each pair, in which every character counts."""
    return np.frombuffer(b"".join(_hash("\t".join(pair).encode()) for pair in pairs), ">u8").astype(np.uint64)


def choose_validation_pairs(
    sources: np.ndarray, targets: np.ndarray, size: int, allowed: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """(valid, dropped), boolean: about `size` pairs for validation, and those that share a target with them.

    Args:
        sources, targets: the hashes of all pairs.
        allowed: the pairs to choose from; the others are neither valid nor dropped.

    All pairs of one source stay together. A pair that is not chosen is dropped if its target is that of a chosen pair.
    """
    valid, dropped = np.zeros(len(sources), bool), np.zeros(len(sources), bool)
    smallest = np.zeros(0, np.uint64)  # no more than `size` different sources can be needed
    for part in _parts(len(sources)):
        smallest = np.unique(np.concatenate([smallest, sources[part][allowed[part]]]))[:size]
    if not len(smallest):
        return valid, dropped
    among = [sources[part][allowed[part] & (sources[part] <= smallest[-1])] for part in _parts(len(sources))]
    taken = np.cumsum(np.unique(np.concatenate(among), return_counts=True)[1])
    last = smallest[min(int(np.searchsorted(taken, size)), len(taken) - 1)]  # the pairs up to this mark are enough
    for part in _parts(len(sources)):
        valid[part] = allowed[part] & (sources[part] <= last)
    taken_targets = np.unique(np.concatenate([targets[part][valid[part]] for part in _parts(len(sources))]))
    for part in _parts(len(sources)):
        dropped[part] = allowed[part] & ~valid[part] & np.isin(targets[part], taken_targets)
    return valid, dropped


def usual_valid_size(pairs: int) -> int:
    """How many pairs are enough for validation if there are `pairs` in all: a twentieth, at most 1,000."""
    return max(1, min(1000, pairs // 20))


def sharing_a_sentence(train: tuple[np.ndarray, np.ndarray], chosen: np.ndarray) -> np.ndarray:
    """Boolean: which pairs have the same source or target as one of the pairs whose numbers are `chosen`."""
    found = np.zeros(len(train[0]), bool)
    for marked in train:
        wanted = np.unique(marked[chosen])
        for part in _parts(len(marked)):
            found[part] |= np.isin(marked[part], wanted)
    return found


def count_overlap(
    train: tuple[np.ndarray, np.ndarray], valid: tuple[np.ndarray, np.ndarray], learnt: np.ndarray | None = None
) -> int:
    """How many pairs of `valid` have their source or their target in `train`; both are hashes made with one seed.

    Args:
        learnt: which pairs of `train` count; by default all.
    """
    met = np.zeros(len(valid[0]), bool)
    for part in _parts(len(train[0])):
        for mine, theirs in zip(valid, train, strict=True):
            met |= np.isin(mine, theirs[part] if learnt is None else theirs[part][learnt[part]])
    return int(met.sum())


def key(sentence: str) -> bytes:
    """A hash (8 bytes) of a sentence without case and punctuation; of the sentence itself if nothing is left."""
    folded = sentence.casefold()
    if not folded.isascii():
        folded = "".join(_with_combining_marks(folded))
    words = _BETWEEN_WORDS.sub(" ", folded).strip()
    return _hash((words or sentence).encode())


def _with_combining_marks(text: str) -> Iterator[str]:
    r"""The characters, with the number of a combining mark in its place: \w does not match it, but in many
    scripts it is a vowel."""
    letter = False
    for character in text:
        is_mark = letter and unicodedata.category(character).startswith("M")
        letter = is_mark or character.isalpha()
        yield f"{ord(character)}" if is_mark else character


def _parts(length: int) -> Iterator[slice]:
    return (slice(begin, begin + AT_ONCE) for begin in range(0, length, AT_ONCE))


def _hash(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=8).digest()
