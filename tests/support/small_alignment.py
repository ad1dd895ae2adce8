"""Gold alignments small enough to be checked by hand, and a toy task whose alignment is known."""

import gzip
from pathlib import Path

import numpy as np

from transformer.analysis.alignment.alignment_error_rate import Rates
from transformer.analysis.alignment.alignment_map import (
    AlignmentMap,
    Gold,
    Head,
    ShiftRates,
    TextMeasures,
    weights_checksum,
    write_map,
)
from transformer.data.toy_tasks import Bounds, held_out_pairs

REVERSE = Path(__file__).parents[2] / "pretrained" / "reverse.safetensors"
# das alte haus ist klein / the old house is rather small: "rather" belongs to nothing for sure.
LINE = "the old house is rather small\tdas alte haus ist klein\t0-0 1-1 2-2 3-3 5-4\t4-4 0-2"


def write(path: Path, *lines: str) -> Path:
    text = "".join(f"{line}\n" for line in lines).encode()
    path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)
    return path


def mirrored(path: Path, count: int = 12, *, swap: bool = False) -> Path:
    """Letters and the same letters in reverse order, each linked to itself: what `reverse` has learnt."""
    lines = []
    for source, target in held_out_pairs("reverse", 7, count, Bounds(min_length=4, max_length=12)):
        length = len(source.split())
        links = " ".join(f"{i}-{length - 1 - i}" for i in range(length))
        lines.append("\t".join(([target, source] if swap else [source, target]) + [links, links]))
    return write(path, *lines)


def made_rates(layers: int, heads: int, best: list[Head], seed: int) -> ShiftRates:
    """Rates that nobody measured; those of `best` are the lowest, and two of them are better than all."""
    rates = np.random.default_rng(seed).uniform(0.5, 1, (3, layers, heads)).round(3)
    for place, (layer, head) in enumerate(best):
        rates[0, layer, head] = 0.1 * (place + seed)
    together = [0.05 if place == 1 else 0.1 * (place + seed) for place in range(len(best))]
    aer, precision, recall = rates.tolist()
    return ShiftRates(aer, precision, recall, rates[0].mean(axis=1).round(3).tolist(), best, together)


def made_map(checkpoint: Path, layers: int, heads: int, *, name: str = "gold.tsv", home: bool = True) -> AlignmentMap:
    """A map as of this checkpoint, stored beside it: rows that read a word align best."""
    text = TextMeasures(name, 40, 14.5, 13.25, 1.5, 1.75, 3.5)
    found = AlignmentMap(
        weights_sha256=weights_checksum(checkpoint),
        gold=Gold(name, "0" * 64, True, 40, 0, 1234, 2345),
        predicts=made_rates(layers, heads, [(0, 1), (layers - 1, 0), (0, 0)], 2),
        reads=made_rates(layers, heads, [(layers - 1, heads - 1), (0, 1), (0, 0)], 1),
        diagonal=Rates(0.625, 0.5, 0.25),
        chance=Rates(0.9, 0.1, 0.1),
        text=text,
        home=TextMeasures("home.tsv", 900, 6.5, 6.25, 1.0, 1.25, 1.5) if home else None,
        valid_loss=None,
    )
    write_map(found, checkpoint)
    return found
