"""Checkpoints: one safe file in, one safe file out.

A `.safetensors` file holds the weights, the tokenizer, and in its header the configuration, the recipe and the metrics
(see `transformer.checkpoint.header`). It is all that is needed to translate, and nothing in it can run. A matrix that
is used in several places (section 3.4) is stored once, under the first of its names, and is one parameter again after
loading. What only training needs lies in a file of its own beside it.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from pydantic import TypeAdapter
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from transformer.checkpoint.header import FORMAT_VERSION, TOKENIZER, Header, meta_model, read_header
from transformer.checkpoint.safetensors_layout import MAX_HEADER, refuse
from transformer.config import ModelConfig
from transformer.errors import CheckpointError, HeadlightError
from transformer.files.atomic_write import replacing
from transformer.model import Transformer
from transformer.model.positions import PositionalEncoding
from transformer.text.tokenizer import Tokenizer

__all__ = ["FORMAT_VERSION", "Checkpoint", "Header", "load_checkpoint", "read_header", "save_checkpoint"]


@dataclass(frozen=True)
class Checkpoint:
    """A model ready to translate, and what is known about it."""

    model: Transformer  # in eval mode, on the device asked for; float32, unless its translator was asked for bfloat16
    tokenizer: Tokenizer
    config: ModelConfig
    recipe: dict[str, Any] | None
    metrics: dict[str, Any]
    format_version: int
    path: Path


def load_checkpoint(path: str | Path, device: str | torch.device = "cpu") -> Checkpoint:
    """Loads a checkpoint for translation, or to go on training from it.

    Everything is checked before memory is taken for it; the model is then built without memory and given the weights
    of the file, in float32 whatever they are stored in. The random state is not touched.

    Raises:
        CheckpointError: the file cannot be loaded; the message lists everything that is wrong with it.
    """
    header = read_header(path)
    try:
        with safe_open(header.path, framework="pt") as file:
            tokenizer = _tokenizer(header, file.get_tensor(TOKENIZER))
            # A copy of our own: what safetensors hands out is the file itself, and changes or dies with it.
            weights = {name: file.get_tensor(name).to(torch.float32, copy=True) for name in header.tensors}
    except (OSError, SafetensorError) as error:
        raise CheckpointError(f"{header.path} cannot be read: {error}.") from error
    broken = [name for name, weight in weights.items() if not _finite(weight)]
    if broken:
        refuse(header.path, [f"{name} contains infinities or values that are no numbers." for name in broken])
    model = meta_model(header.config)
    # Not strict, because a shared matrix comes once. `read_header` has compared all names. Trap: matrices that were one
    # are two after loading, and drift apart in training (test_shared_embeddings_are_one_parameter_after_loading).
    model.load_state_dict(weights, strict=False, assign=True)
    if header.config.positions != "learned":  # a formula, not a weight: not in the file
        positions = PositionalEncoding(header.config)
        model.encoder.embedding.positions = model.decoder.embedding.positions = positions
    return Checkpoint(
        model=model.eval().to(device),
        tokenizer=tokenizer,
        config=header.config,
        recipe=header.recipe,
        metrics=header.metrics,
        format_version=header.format_version,
        path=header.path,
    )


def save_checkpoint(
    path: str | Path,
    model: torch.nn.Module,
    tokenizer: Tokenizer,
    *,
    recipe: Mapping[str, Any] | None,
    metrics: Mapping[str, Any],
    half: bool = False,
) -> None:
    """Writes a checkpoint: whole, or not at all.

    Args:
        model: a `Transformer`, on any device, compiled or not. It is not changed.
        recipe: what it was trained from, as plain dictionaries; None if nobody knows.
        metrics: whatever JSON can hold. Numbers that are not finite become null.
        half: store float16, half the size; about three decimal digits of each weight remain.

    Raises:
        CheckpointError: the disk is full, the folder is missing, a weight is not finite (or too large for float16).
            The file that was there before is as it was.
    """
    path = Path(path)
    model = getattr(model, "_orig_mod", model)  # inside the wrapper of torch.compile
    assert isinstance(model, Transformer)
    if tokenizer.vocab_size != model.config.vocab_size:
        sizes = f"the model has {model.config.vocab_size} pieces, the tokenizer {tokenizer.vocab_size}"
        raise CheckpointError(f"{path} is not written: {sizes}. Give the tokenizer that the model was trained with.")
    dtype = torch.float16 if half else torch.float32
    weights = {name: weight.detach().to("cpu", dtype).contiguous() for name, weight in model.named_parameters()}
    broken = [name for name, weight in weights.items() if not _finite(weight)]
    if broken:
        reason = "not finite, or too large for half precision" if half else "not finite: training has diverged"
        raise CheckpointError(f"{path} is not written: {len(broken)} tensors are {reason} (the first is {broken[0]}).")
    about = {
        "format_version": FORMAT_VERSION,
        "config": TypeAdapter(ModelConfig).dump_python(model.config),
        "recipe": recipe,
        "metrics": metrics,
    }
    metadata = {"headlight": json.dumps(_plain(about), ensure_ascii=False, allow_nan=False)}
    if len(metadata["headlight"]) > MAX_HEADER // 4:
        raise CheckpointError(
            f"{path} is not written: recipe and metrics are larger than {MAX_HEADER // 4:,} characters. Shorten them."
        )
    tensors = weights | {TOKENIZER: torch.frombuffer(bytearray(tokenizer.to_bytes()), dtype=torch.uint8)}
    try:
        with replacing(path) as temporary:
            save_file(tensors, temporary, metadata)
    except (OSError, SafetensorError) as error:
        raise CheckpointError(
            f"{path} could not be written: {error}. What was there before is as it was. If the disk is full, free some "
            "space; a training then goes on with the same command and --resume."
        ) from error


def _tokenizer(header: Header, stored: Tensor) -> Tokenizer:
    try:
        tokenizer = Tokenizer.from_bytes(stored.numpy().tobytes())
    except (HeadlightError, RuntimeError, ValueError) as error:
        refuse(header.path, [f"Its tokenizer cannot be read: {error}"])
    if tokenizer.vocab_size != header.config.vocab_size:
        refuse(
            header.path,
            [f"Its tokenizer has {tokenizer.vocab_size} pieces, and its model {header.config.vocab_size}."],
        )
    return tokenizer


def _finite(weight: Tensor) -> bool:
    """Whether all numbers are, found without a mask as large as the tensor."""
    low, high = weight.aminmax()
    return bool(torch.isfinite(low) and torch.isfinite(high))


def _plain(value: Any) -> Any:
    """`value` as JSON can hold it: NaN and infinity, which it has no words for, become null."""
    if isinstance(value, Mapping):
        return {str(name): _plain(member) for name, member in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(member) for member in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
