"""The map: how well each decoder layer and head aligns, stored beside its checkpoint as NAME.alignment.json.

A map can be measured long after training, so it is a file of its own, like the card. It contains the checksum of the
weights that it was measured on. This is the checksum of all bytes after the header, because the scores in the header
may change. A map is not trusted: names, sizes and numbers are checked.
"""

import hashlib
import json
from dataclasses import asdict, field
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field
from pydantic.dataclasses import dataclass

from transformer.analysis.alignment.alignment_error_rate import Rates, Share
from transformer.analysis.alignment.word_attention import SHIFTS, Shift
from transformer.config import ModelConfig
from transformer.errors import CheckpointError
from transformer.files.atomic_write import replacing
from transformer.files.strict_json import parse_object
from transformer.files.untrusted_values import STRICT, validate

FORMAT_VERSION = 2
LARGEST = 2**22  # bytes; a map of 64 layers of 64 heads has about a twentieth of that

Head = tuple[int, int]  # (decoder layer, head), from 0
Count = Annotated[int, Field(ge=0)]
Mean = Annotated[float, Field(ge=0, allow_inf_nan=False)]


@dataclass(frozen=True, config=STRICT)
class Gold:
    """The gold alignment that was used."""

    name: str  # of the file
    sha256: str  # of the file
    swapped: bool  # whether its second column is the source
    pairs: Count
    left_out: Count  # pairs too long for the model
    sure: Count  # links
    possible: Count  # including the sure ones


@dataclass(frozen=True, config=STRICT)
class TextMeasures:
    """Measures by which texts are compared. Words are counted in the same way in each text."""

    name: str
    pairs: Count
    source_words: Mean  # per sentence
    target_words: Mean
    source_tokens_per_word: Mean
    target_tokens_per_word: Mean
    loss: Mean  # nats per target token, </s> included, teacher-forced, without label smoothing


@dataclass(frozen=True, config=STRICT)
class ShiftRates:
    """The rates of one shift.

    Attributes:
        aer, precision, recall: L lists of H numbers, one for each head.
        layers: L numbers, for each layer the AER of the mean of its heads.
        best: the heads with the lowest AER, the lowest first.
        together: AER of the mean of the first n heads of `best`, for n = 1, 2, ...
    """

    aer: list[list[Share]]
    precision: list[list[Share]]
    recall: list[list[Share]]
    layers: list[Share]
    best: list[Head]
    together: list[Share]


@dataclass(frozen=True, config=STRICT)
class AlignmentMap:
    """The map, and the baselines with which its numbers are compared."""

    weights_sha256: str  # of the checkpoint, see `weights_checksum`
    gold: Gold
    predicts: ShiftRates
    reads: ShiftRates
    diagonal: Rates
    chance: Rates
    text: TextMeasures  # of the gold alignment
    home: TextMeasures | None  # of a text like that of training
    valid_loss: Mean | None  # in the metrics of the checkpoint
    format_version: int = field(default=FORMAT_VERSION)

    def of_shift(self, shift: Shift) -> ShiftRates:
        return self.predicts if shift == "predicts" else self.reads

    @property
    def best_shift(self) -> Shift:
        """The shift in which a single head has the lowest AER."""
        return min(SHIFTS, key=lambda shift: self.of_shift(shift).together[0])

    def heads_shown_first(self, shift: Shift) -> list[Head]:
        """The heads that the app shows first: the best n, with n chosen so that the AER of their mean is lowest."""
        found = self.of_shift(shift)
        return sorted(found.best[: found.together.index(min(found.together)) + 1])


def map_path(checkpoint: Path) -> Path:
    """The path of the map of a checkpoint."""
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
    """Writes the map beside its checkpoint, completely or not at all, and returns its path."""
    path = map_path(checkpoint)
    lines = [f"{json.dumps(name)}: {json.dumps(value)}" for name, value in _rounded(asdict(found)).items()]
    with replacing(path) as temporary:
        temporary.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    return path


def read_map(checkpoint: Path, config: ModelConfig) -> AlignmentMap | None:
    """The map beside a checkpoint; None if it does not exist.

    Raises:
        CheckpointError: it is damaged, or of other weights.
    """
    path = map_path(checkpoint)
    if not path.is_file():
        return None
    again = f"Measure again with `python -m transformer align {checkpoint} --data FILE --store`, or delete it."
    if path.stat().st_size > LARGEST:
        raise CheckpointError(f"{path} is not a map of heads: it is larger than {LARGEST:,} bytes. {again}")
    try:
        values: dict[str, Any] = parse_object(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise CheckpointError(f"{path} is not a map of heads: it is not JSON ({error}). {again}") from None
    version = values.get("format_version")
    if isinstance(version, int) and version != FORMAT_VERSION:
        raise CheckpointError(f"{path} has the format {version}; this Headlight reads {FORMAT_VERSION}. {again}")
    found, problems = validate(AlignmentMap, values)
    if found is None:
        raise CheckpointError(f"{path} is not a map of heads. {' '.join(problems[:3])} {again}")
    if not all(_fits(found.of_shift(shift), config.decoder_layers, config.heads) for shift in SHIFTS):
        shape = f"{config.decoder_layers} layers with {config.heads} heads"
        raise CheckpointError(f"{path} is a map of another model: this one's decoder has {shape}. {again}")
    if found.weights_sha256 != weights_checksum(checkpoint):
        raise CheckpointError(f"{path} was measured on other weights than those of {checkpoint.name}. {again}")
    return found


def _fits(found: ShiftRates, layers: int, heads: int) -> bool:
    tables = all(
        len(table) == layers and all(len(row) == heads for row in table)
        for table in (found.aer, found.precision, found.recall)
    )
    inside = all(0 <= layer < layers and 0 <= head < heads for layer, head in found.best)
    return tables and inside and len(found.layers) == layers and 0 < len(found.best) == len(found.together)


def _rounded(value: Any) -> Any:
    """Rounded to five decimals, which is more than the precision of a few thousand words."""
    if isinstance(value, dict):
        return {name: _rounded(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(each) for each in value]
    return round(value, 5) if isinstance(value, float) else value
