"""The state from which training is resumed to the same bits: weights in full precision, Adam's two moments, progress.

It is one safetensors file, replaced as a whole, so a process that is killed at any moment leaves the complete state of
some update. It has no state of a random generator: see random_state.py.

The metadata have a CRC-32 of each tensor and of each text, because training would not notice a damaged byte.
(zlib.crc32 reads 4 GB/s, so it takes at most a fifth of the time of a save; blake2b reads 0.8 GB/s.)
"""

import json
import zlib
from dataclasses import asdict, field
from pathlib import Path
from typing import Annotated, Any

import torch
from pydantic import ConfigDict, Field, StrictFloat, StrictInt, model_validator
from pydantic.dataclasses import dataclass
from safetensors import SafetensorError
from safetensors.torch import save_file
from torch import Tensor
from torch.optim import AdamW

from transformer.errors import TrainingError
from transformer.files.atomic_write import replacing
from transformer.files.open_safetensors import open_safetensors
from transformer.files.strict_json import parse_json
from transformer.files.untrusted_values import shown, validate
from transformer.model import Transformer

_MOMENTS = ("exp_avg", "exp_avg_sq")
_SECTIONS = ("model", "tokenizer", "data", "training")

_MOST = {int: 2**50, float: 1e30}  # limits for values from a file: far more than any run reaches, and no overflow

Natural = Annotated[StrictInt, Field(ge=0)]
Finite = Annotated[StrictFloat, Field(allow_inf_nan=False)]
Amount = Annotated[Finite, Field(ge=0)]
Positive = Annotated[Finite, Field(gt=0)]


@dataclass(config=ConfigDict(extra="forbid"))
class Progress:
    """The progress of a run after `update` updates."""

    update: Natural = 0
    epoch: Natural = 0  # position in the data: the next batch is number `batch` of epoch `epoch`
    batch: Natural = 0
    tokens: Natural = 0  # target tokens trained on so far
    seconds: Amount = 0.0  # spent in training, over all resumptions
    validated: Natural = 0  # the last update at which the run was validated
    best: Finite | None = None  # the highest value of `goodness`: of `best_by`, or the negated loss
    best_update: Natural = 0
    kept_update: Natural = 0  # the checkpoint that is kept as the best: this one, or a later one that is as good
    without_improvement: Natural = 0  # validations since best_update, except those in the warm-up
    judged_by: str = ""  # how and on which text validations are scored, to notice when scores cannot be compared
    scores: dict[str, Finite | str] = field(default_factory=dict)  # of the last validation
    recent_loss: Amount = 0.0  # since the last line of metrics: nats, summed over recent_tokens target tokens
    recent_tokens: Natural = 0
    recent_flop: Amount = 0.0
    recent_seconds: Amount = 0.0
    window_loss: Amount = 0.0  # in the current window (divergence.py): nats, summed over window_tokens target tokens
    window_tokens: Natural = 0
    window_updates: Natural = 0
    lowest_loss: Amount | None = None  # the lowest mean of a window
    climbing: Natural = 0  # how many windows in a row were far above what has been reached (divergence.py)
    loss_scale: Positive = 2.0**16  # of float16 (loss_scaling.py)
    updates_without_overflow: Natural = 0  # in a row, at this scale
    computed_in: str = ""  # which arithmetic (autocast.py), to notice when bits can no longer be the same
    corpus: str = ""  # fingerprint of the training text, to notice when it is no longer the same

    @model_validator(mode="after")
    def _consistent(self) -> "Progress":
        if max(self.validated, self.best_update, self.kept_update) > self.update:
            raise ValueError(
                f"validated = {self.validated}, best_update = {self.best_update} and kept_update = {self.kept_update} "
                f"cannot be after update = {self.update}"
            )
        return self


def save_state(path: Path, model: Transformer, optimizer: AdamW, progress: Progress, recipe: dict[str, object]) -> None:
    """Writes the state, or raises TrainingError and leaves the previous state unchanged."""
    tensors: dict[str, Tensor] = {f"weights.{name}": parameter for name, parameter in model.named_parameters()}
    for name, parameter in model.named_parameters():
        for moment in _MOMENTS:
            if parameter in optimizer.state:
                tensors[f"{moment}.{name}"] = optimizer.state[parameter][moment]
    texts = {"progress": json.dumps(asdict(progress)), "recipe": json.dumps(recipe)}
    tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    checksums = {name: zlib.crc32(text.encode()) for name, text in texts.items()}
    checksums |= {name: zlib.crc32(tensor.numpy().data) for name, tensor in tensors.items()}
    metadata = {"format": "headlight-training-1", **texts, "checksums": json.dumps(checksums)}
    try:
        with replacing(path) as temporary:
            save_file(tensors, temporary, metadata)
    except (OSError, SafetensorError) as error:
        raise TrainingError(
            f"The state of the training cannot be written to {path}: {error}. Free some space or make the folder "
            "writable, then continue with --resume from the last state that was saved."
        ) from error


def read_progress(path: Path) -> tuple[Progress, dict[str, Any]]:
    """The progress of the run, and its recipe, without reading tensors.

    Raises:
        TrainingError: the file is not a training state, or is damaged.
    """
    try:
        with open_safetensors(path) as file:
            metadata = file.metadata() or {}
        checksums = _checksums(metadata)
        for name in ("progress", "recipe"):
            _compare(path, name, metadata[name].encode(), checksums)
        stated, recipe = parse_json(metadata["progress"]), parse_json(metadata["recipe"])
    except KeyError as error:
        raise _refusal(path, f"its {error.args[0]} is missing") from None
    except (OSError, SafetensorError, ValueError) as error:
        raise _refusal(path, str(error)) from None
    progress, problems = validate(Progress, stated, prefix="progress.")
    problems += [
        f"progress.{name} = {shown(value)}: should be at most {_MOST[type(value)]:.2g}."
        for name, value in (asdict(progress) if progress else {}).items()
        if type(value) in _MOST and abs(value) > _MOST[type(value)]
    ]
    sections = recipe if isinstance(recipe, dict) else {}
    problems += [
        f"recipe.{name} should be a section and is {shown(sections.get(name))}."
        for name in _SECTIONS
        if not isinstance(sections.get(name), dict)
    ]
    if problems or progress is None:
        raise _refusal(path, " ".join(problems).rstrip("."))
    return progress, recipe


def load_state(path: Path, model: Transformer, optimizer: AdamW, update: int) -> None:
    """Restores weights and moments to the bit, if they are exactly those that the model needs.

    Raises:
        TrainingError: names, shapes or dtypes differ from those of the model, or the file is damaged. The model must
            not be used then: some of its weights may have been replaced.
    """
    kinds = ("weights", *_MOMENTS) if update else ("weights",)  # Adam has no moments before the first update
    with open_safetensors(path) as file:
        shapes = {f"{kind}.{name}": list(weight.shape) for kind in kinds for name, weight in model.named_parameters()}
        needed = {name: f"F32 {shape}" for name, shape in shapes.items()}
        slices = {name: file.get_slice(name) for name in file.keys()}  # noqa: SIM118 (not a dictionary)
        found = {name: f"{stored.get_dtype()} {stored.get_shape()}" for name, stored in slices.items()}
        for name in sorted(needed.keys() | found.keys()):
            if needed.get(name) != found.get(name):
                raise TrainingError(
                    f"In {path}, {shown(name)} is {found.get(name, 'missing')}, and should be "
                    f"{needed.get(name, 'absent')}. Resume with the recipe that the run was started with."
                )
        checksums = _checksums(file.metadata())
        for name, parameter in model.named_parameters():
            stored = {kind: file.get_tensor(f"{kind}.{name}") for kind in kinds}
            for kind, tensor in stored.items():
                _compare(path, f"{kind}.{name}", tensor.numpy().data, checksums)
            # A copy, because safetensors returns views of the mapped file, and Adam changes its moments in place.
            read = {kind: tensor.to(parameter.device, copy=True) for kind, tensor in stored.items()}
            with torch.no_grad():
                parameter.copy_(read.pop("weights"))
            if update:
                step = torch.tensor(float(update), device=parameter.device)
                optimizer.state[parameter] = {"step": step, **read}


def _checksums(metadata: dict[str, str]) -> dict[str, int] | None:
    """CRC-32 by the name of a text or a tensor; None if the state is from a version without checksums. Raises
    ValueError."""
    if "checksums" not in metadata and metadata.keys() - {"format", "progress", "recipe"}:
        raise ValueError("the name of its checksums is damaged")
    found = parse_json(metadata["checksums"]) if "checksums" in metadata else None
    if not isinstance(found, dict | None):
        raise ValueError("its checksums are not a JSON object")
    return found


def _compare(path: Path, name: str, stored: bytes | memoryview, checksums: dict[str, int] | None) -> None:
    """Raises TrainingError if what is stored is not what was saved."""
    if checksums is not None and checksums.get(name) != zlib.crc32(stored):
        raise TrainingError(
            f"{path} is damaged: {shown(name)} is not what was saved. Resume from a copy of the run, or start again in "
            f"another --run-dir, if you like with --init-from {path.with_name('last.safetensors')}."
        )


def _refusal(path: Path, reason: str) -> TrainingError:
    return TrainingError(f"{path} is not the state of a training run: {reason}. Start again in another --run-dir.")
