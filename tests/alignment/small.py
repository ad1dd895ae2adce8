"""Gold alignments small enough to count with the fingers, and a toy whose alignment is known."""

import gzip
from pathlib import Path

from transformer.text.toy import toy_pairs

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
    for source, target in toy_pairs("reverse", 7, count, held_out=True, min_length=4, max_length=12):
        length = len(source.split())
        links = " ".join(f"{i}-{length - 1 - i}" for i in range(length))
        lines.append("\t".join(([target, source] if swap else [source, target]) + [links, links]))
    return write(path, *lines)
