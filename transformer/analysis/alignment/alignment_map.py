"""The map: how well each decoder layer and head aligns, stored beside its checkpoint as NAME.alignment.json.

Beside it, as the card is, and not inside: a map can be measured long after training, and a checkpoint of megabytes need
not be written anew for a few numbers. So that it is never read as the map of other weights, it names those it was
measured on by their checksum: of all bytes after the header, which says things that may change (scores).

A map is as little to be believed as a checkpoint from somewhere: names, sizes and numbers are checked.
"""

import hashlib
import json
from dataclasses import asdict, field
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field
from pydantic.dataclasses import dataclass

from transformer.analysis.alignment.alignment_error_rate import Rate, Share
from transformer.analysis.alignment.word_attention import SHIFTS, Shift
from transformer.checkpoint.untrusted_config import validate
from transformer.config import STRICT, ModelConfig
from transformer.errors import CheckpointError
from transformer.files.atomic_write import replacing
from transformer.files.strict_json import parse_object

FORMAT_VERSION = 1
LARGEST = 2**22  # bytes; a map of 64 layers of 64 heads takes a quarter of that

Head = tuple[int, int]  # (decoder layer, head), from 0
Count = Annotated[int, Field(ge=0)]
Mean = Annotated[float, Field(ge=0, allow_inf_nan=False)]


@dataclass(frozen=True, config=STRICT)
class Gold:
    """Which gold alignment was used."""

    name: str  # of the file
    sha256: str  # of the file
    swapped: bool  # whether its second column is the source
    pairs: Count
    left_out: Count  # pairs too long for the model
    sure: Count  # links
    possible: Count  # the sure ones among them


@dataclass(frozen=True, config=STRICT)
class TextMeasures:
    """What tells how far a text is from another. Words are counted alike in each, whoever cut it."""

    name: str
    pairs: Count
    source_words: Mean  # a sentence
    target_words: Mean
    source_pieces: Mean  # a word
    target_pieces: Mean
    loss: Mean  # nats a piece of the target, </s> among them, teacher-forced, without label smoothing


@dataclass(frozen=True, config=STRICT)
class Reading:
    """What the rows of one shift give.

    Attributes:
        aer, precision, recall: L lists of H.
        layers: AER of the mean of all heads of each layer, L.
        best: some heads, that of the lowest AER first.
        together: AER of the mean of the first n of them, for n from 1.
    """

    aer: list[list[Share]]
    precision: list[list[Share]]
    recall: list[list[Share]]
    layers: list[Share]
    best: list[Head]
    together: list[Share]


@dataclass(frozen=True, config=STRICT)
class AlignmentMap:
    """The map, and all that says what its numbers are worth."""

    weights_sha256: str  # of the checkpoint, see `weights_checksum`
    gold: Gold
    predicts: Reading
    reads: Reading
    diagonal: Rate
    chance: Rate
    text: TextMeasures  # of the gold alignment
    home: TextMeasures | None  # of a text like that of training
    valid_loss: Mean | None  # that the checkpoint carries
    format_version: int = field(default=FORMAT_VERSION)

    def reading(self, shift: Shift) -> Reading:
        return self.predicts if shift == "predicts" else self.reads

    @property
    def best_shift(self) -> Shift:
        """The one in which a single head reaches the lowest AER."""
        return min(SHIFTS, key=lambda shift: self.reading(shift).together[0])

    def opening(self, shift: Shift) -> list[Head]:
        """The heads to look at first: of the best ones as many as align best together."""
        found = self.reading(shift)
        return sorted(found.best[: found.together.index(min(found.together)) + 1])


def map_path(checkpoint: Path) -> Path:
    """Where the map of a checkpoint lies."""
    return checkpoint.with_suffix(".alignment.json")


def weights_checksum(checkpoint: Path) -> str:
    """sha256 of all that follows the header of a .safetensors file, in hexadecimal."""
    with checkpoint.open("rb") as file:
        file.seek(8 + int.from_bytes(file.read(8), "little"))
        found = hashlib.sha256()
        while block := file.read(2**20):
            found.update(block)
    return found.hexdigest()


def write_map(found: AlignmentMap, checkpoint: Path) -> Path:
    """Writes the map beside its checkpoint, whole or not at all; an older one is replaced. Returns where it lies."""
    path = map_path(checkpoint)
    lines = [f"{json.dumps(name)}: {json.dumps(value)}" for name, value in _rounded(asdict(found)).items()]
    with replacing(path) as temporary:
        temporary.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    return path


def read_map(checkpoint: Path, config: ModelConfig) -> AlignmentMap | None:
    """The map beside a checkpoint, or None where there is none.

    Raises:
        CheckpointError: it is damaged, or of other weights than these.
    """
    path = map_path(checkpoint)
    if not path.is_file():
        return None
    again = f"Measure again with `python -m transformer align {checkpoint.name} --data FILE --store`, or delete it."
    if path.stat().st_size > LARGEST:
        raise CheckpointError(f"{path} is no map of heads: it is larger than {LARGEST:,} bytes. {again}")
    try:
        values: dict[str, Any] = parse_object(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise CheckpointError(f"{path} is no map of heads: it is not JSON ({error}). {again}") from None
    found, problems = validate(AlignmentMap, values)
    if found is None:
        raise CheckpointError(f"{path} is no map of heads. {' '.join(problems[:3])} {again}")
    if found.format_version != FORMAT_VERSION:
        raise CheckpointError(
            f"{path} has the format {found.format_version}; this Headlight reads {FORMAT_VERSION}. {again}"
        )
    if not all(_fits(found.reading(shift), config.decoder_layers, config.heads) for shift in SHIFTS):
        shape = f"{config.decoder_layers} layers with {config.heads} heads"
        raise CheckpointError(f"{path} is a map of another model: this one's decoder has {shape}. {again}")
    if found.weights_sha256 != weights_checksum(checkpoint):
        raise CheckpointError(f"{path} was measured on other weights than those of {checkpoint.name}. {again}")
    return found


def _fits(found: Reading, layers: int, heads: int) -> bool:
    tables = all(
        len(table) == layers and all(len(row) == heads for row in table)
        for table in (found.aer, found.precision, found.recall)
    )
    inside = all(0 <= layer < layers and 0 <= head < heads for layer, head in found.best)
    return tables and inside and len(found.layers) == layers and 0 < len(found.best) == len(found.together)


def _rounded(value: Any) -> Any:
    """Five digits after the point: more than a few thousand words can tell."""
    if isinstance(value, dict):
        return {name: _rounded(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(each) for each in value]
    return round(value, 5) if isinstance(value, float) else value
