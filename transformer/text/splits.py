"""Training and validation text must not share sentences: a score on what was learnt by heart says nothing.

Sentences count as the same if they differ in case, punctuation or white space only ("Go!" and "go."). The check keeps
hashes of the smaller side, so that the larger may be a stream.
"""

import hashlib
import re
from collections.abc import Iterable, Sequence

Pair = tuple[str, str]
_BETWEEN_WORDS = re.compile(r"[\W_]+")


def shared_pairs(train: Iterable[Pair], valid: Iterable[Pair]) -> int:
    """How many pairs of `valid` have their source or their target in `train`."""
    keys = [(_key(source), _key(target)) for source, target in valid]
    sources, targets = {source for source, _ in keys}, {target for _, target in keys}
    found_sources, found_targets = set[bytes](), set[bytes]()
    for source, target in train:
        found_sources |= {_key(source)} & sources
        found_targets |= {_key(target)} & targets
    return sum(source in found_sources or target in found_targets for source, target in keys)


def set_aside(pairs: Sequence[Pair], size: int, seed: int) -> tuple[list[Pair], list[Pair], int]:
    """Splits into (train, valid, dropped): about `size` pairs for validation, that share no sentence with the others.

    All pairs of one source go together. Pairs left for training whose target is among those set aside are dropped and
    counted. A function of (pairs, size, seed); whether a source is set aside does not depend on the order of `pairs`.
    """
    keys = [(_key(source), _key(target)) for source, target in pairs]
    by_chance = sorted({source for source, _ in keys}, key=lambda key: _hash(f"{seed}".encode() + key))
    pairs_of: dict[bytes, int] = {}
    for source, _ in keys:
        pairs_of[source] = pairs_of.get(source, 0) + 1
    chosen: set[bytes] = set()
    taken = 0
    for source in by_chance:
        if taken >= size:
            break
        chosen.add(source)
        taken += pairs_of[source]
    targets = {target for source, target in keys if source in chosen}
    valid = [pair for pair, (source, _) in zip(pairs, keys, strict=True) if source in chosen]
    train = [
        pair
        for pair, (source, target) in zip(pairs, keys, strict=True)
        if source not in chosen and target not in targets
    ]
    return train, valid, len(pairs) - len(train) - len(valid)


def _key(sentence: str) -> bytes:
    """What is left of a sentence without case and punctuation, as 8 bytes. Without letters it is taken as it is."""
    words = _BETWEEN_WORDS.sub(" ", sentence.casefold()).strip()
    return _hash((words or sentence).encode())


def _hash(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=8).digest()
