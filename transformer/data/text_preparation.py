"""Raw text -> a prepared corpus (prepared_text.py): one pass over all text, in several processes if it is large.

Pairs that cannot be used are not written. Afterwards each written pair gets its role, by the hashes of its sides. Not
for training are: pairs chosen for validation, pairs kept for a later test (`aside` of a part), pairs that share a
sentence with one of either, and (with data.drop_duplicates) further copies of a pair.
"""

import json
import logging
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack, closing
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from transformer.data.augmentation.number_swapping import has_numbers
from transformer.data.cleaning import Counts, fault, nothing_learnt, repeated
from transformer.data.corpus import Pair, Portion, check_usable, plain, raw_pairs
from transformer.data.data_options import DataConfig
from transformer.data.kept_aside import Smallest, order_hash
from transformer.data.mapped_arrays import append, mapped
from transformer.data.parallel_map import in_order, processes_for
from transformer.data.parts import Part, sums_of
from transformer.data.prepared_text import ASIDE, LEFT_OUT, PLACES, TRAIN, VALID, UsedPart
from transformer.data.skipped_lines import SkippedLines
from transformer.data.train_valid_overlap import (
    choose_validation_pairs,
    count_overlap,
    hash_pairs,
    sentence_hashes,
    sharing_a_sentence,
    usual_valid_size,
)
from transformer.errors import CorpusError
from transformer.progress_bar import show_progress

log = logging.getLogger(__name__)

HASHES = ("sources", "targets", "whole")
PORTION = 1_000_000  # bytes of text that count as one portion when the number of processes is chosen


def write_text(
    parts: Sequence[Part], valid: Sequence[Pair] | None, config: DataConfig, seed: int, folder: Path
) -> None:
    """Fills an empty folder for `TrainingText`.

    Args:
        valid: validation text. None: about config.valid_size pairs of the text are set aside.

    Raises:
        CorpusError: a text cannot be read (the message names file and line), or no pair is left for training.
    """
    counts, used, aside = _write_usable(parts, config, seed, folder)
    firsts = mapped(folder / "firsts.bin", np.int64)
    hashes = mapped(folder / "sources.bin", np.uint64), mapped(folder / "targets.bin", np.uint64)
    roles = np.full(len(hashes[0]), TRAIN, np.uint8)
    if config.drop_duplicates:
        roles[repeated(mapped(folder / "whole.bin", np.uint64))] = LEFT_OUT
    roles[aside] = ASIDE  # also those that are duplicates
    counts.aside, counts.duplicates = len(aside), int((roles == LEFT_OUT).sum())
    if len(aside):
        like = sharing_a_sentence(hashes, aside) & (roles == TRAIN)
        roles[like] = LEFT_OUT
        counts.like_aside = int(like.sum())
    is_enough, fewer = True, None
    if valid is None:
        real = _are_real(used, firsts) & ~_are_copies(used, hashes)
        usable = (roles == TRAIN) & real
        is_enough = _set_aside_for_validation(roles, hashes, real, config.valid_size, counts)
        fewer = None if is_enough else _fewer(hashes, config.valid_size, usable)
    else:
        counts.shared = count_overlap(hashes, sentence_hashes(valid, seed), roles == TRAIN)
    _count_learnt(counts, used, roles, firsts)
    if not (is_enough and counts.learnt):
        raise nothing_learnt(counts, config, fewer)
    (folder / "roles.bin").write_bytes(roles.tobytes())
    counts.write(folder / "counts.json")
    (folder / "parts.json").write_text(json.dumps([asdict(part) for part in used]), encoding="utf-8")
    for name in HASHES:
        (folder / f"{name}.bin").unlink()


def _set_aside_for_validation(
    roles: np.ndarray, hashes: tuple[np.ndarray, np.ndarray], real: np.ndarray, size: int, counts: Counts
) -> bool:
    """Gives about `size` pairs the role VALID, and leaves out those that share a sentence with one of them.

    Args:
        real: boolean: which pairs may be set aside: those whose sources no model wrote, each once.

    Returns:
        Whether such a pair is left for training.

    Raises:
        CorpusError: there is text, but none that can be set aside.
    """
    usable = roles == TRAIN
    if usable.any() and not (usable & real).any():
        raise CorpusError(
            "No pair can be set aside for validation: a model wrote the sources of all of them. Name validation text "
            "(data.valid)."
        )
    chosen, alike = choose_validation_pairs(*hashes, size, usable & real)
    if not real.all():
        alike = sharing_a_sentence(hashes, np.flatnonzero(chosen)) & usable & ~chosen
    roles[chosen], roles[alike] = VALID, LEFT_OUT
    counts.validation, counts.like_validation = int(chosen.sum()), int(alike.sum())
    return bool((usable & real & ~chosen & ~alike).any())


def _are_real(used: Sequence[UsedPart], firsts: np.ndarray) -> np.ndarray:
    """Boolean: which pairs are from a part whose sources no model wrote."""
    ends = np.cumsum([0, *(part.blocks for part in used)])
    pairs = np.diff(firsts[ends])
    return np.repeat([part.is_real for part in used], pairs)


def _are_copies(used: Sequence[UsedPart], hashes: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """Boolean: which pairs a mix has once more, from a file that it names twice (parts.py)."""
    if len({part.name for part in used}) == len(used):
        return np.zeros(len(hashes[0]), bool)
    return repeated(hashes[0] * np.uint64(0x9E3779B97F4A7C15) ^ hashes[1])


def _fewer(marked: tuple[np.ndarray, np.ndarray], size: int, usable: np.ndarray) -> int | None:
    """A lower number of pairs to set aside than `size`, so that a pair is left for training; None if none is found."""
    for fewer in (usual_valid_size(int(usable.sum())), 1):
        chosen, alike = choose_validation_pairs(*marked, fewer, usable)
        if fewer < size and (usable & ~chosen & ~alike).any():
            return fewer
    return None


def _count_learnt(counts: Counts, used: Sequence[UsedPart], roles: np.ndarray, firsts: np.ndarray) -> None:
    """Counts the pairs for training. A part counts each once; the total counts it as often as the part's weight."""
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
    """One pass over all text: usable pairs are written to text.tsv, their hashes to files beside it. Returns the
    counts, the parts, and the numbers of the pairs to keep aside."""
    counts, done, first = Counts(), 0, 0
    used, aside = list[UsedPart](), [np.zeros(0, np.int64)]
    size = sum(part.text.size for part in parts)
    processes = processes_for(size // PORTION, config.workers)
    log.info("Reading %.1f MB of text%s.", max(0.1, size / 1e6), f" in {processes} processes" if processes > 1 else "")
    with ExitStack() as opened:
        text_file = opened.enter_context((folder / "text.tsv").open("wb"))
        arrays = {name: opened.enter_context((folder / f"{name}.bin").open("wb")) for name in (*PLACES, *HASHES)}
        advance = opened.enter_context(show_progress("MB of text"))
        for part in parts:
            text, before, begin = part.text, counts, first
            now = UsedPart(part.name, sums_of(text), part.weight, part.tag, is_real=part.is_real)
            smallest = Smallest(part.aside)
            skipped = SkippedLines()
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
                skipped.extend(found.skipped)
                now.blocks += 1
                advance(round((done + found.share * text.size) / 1e6), round(size / 1e6))
            now.read, now.aside = counts.read - before.read, part.aside
            now.skipped, now.first_skipped = skipped.count, skipped.first
            skipped.check(text.name, now.read, config.skip_limit)
            check_usable(text, now.read, counts.empty - before.empty, now.skipped)
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
    hashes: tuple[np.ndarray, np.ndarray, np.ndarray]  # of sources, targets, and whole pairs (if needed)
    order: np.ndarray  # uint64, a hash per pair: those with the smallest are kept aside (empty if the part keeps none)
    counts: Counts
    skipped: SkippedLines
    share: float  # how much of its text has been read (0 to 1)


class _Reader:
    """Portion -> its usable pairs."""

    def __init__(self, part: Part, config: DataConfig, seed: int):
        self._part, self._config, self._seed = part, config, seed

    def __call__(self, portion: Portion) -> _Found:
        pairs, order, faults = list[Pair](), list[bytes](), Counter[str](read=len(portion.records))
        skipped = SkippedLines()
        for raw in raw_pairs(self._part.text, portion, skipped if self._config.on_error == "skip" else None):
            source, target = plain(raw)
            wrong = fault(source, target, self._config)
            if wrong is None and self._part.only == "numbers" and not has_numbers((source, target)):
                wrong = "no_numbers"
            if wrong:
                faults[wrong] += 1
                continue
            pairs.append((source, target))
            if self._part.aside:
                order.append(order_hash(raw, self._part.in_file_order))
        lines = "".join(f"{source}\t{target}\n" for source, target in pairs).encode()
        whole = hash_pairs(pairs) if self._config.drop_duplicates else np.zeros(0, np.uint64)
        ordered = np.frombuffer(b"".join(order), ">u8").astype(np.uint64)
        counts = Counts(**faults, skipped=skipped.count)
        return _Found(lines, (*sentence_hashes(pairs, self._seed), whole), ordered, counts, skipped, portion.share)
