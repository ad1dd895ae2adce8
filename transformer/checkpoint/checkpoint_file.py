"""Saving and loading checkpoints, each as one safe file.

A `.safetensors` file holds the weights, the tokenizer, perhaps the words of the source text, and in its header the
configuration, the recipe and the metrics (see `transformer.checkpoint.header`). Translating needs nothing else, and
nothing in the file is executable. A matrix that is used in several places (section 3.4) is stored once, under the first
of its names, and is one parameter again after loading. What only training needs is stored in a second file beside it.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from pydantic import TypeAdapter
from safetensors import SafetensorError
from safetensors.torch import save_file
from torch import Tensor

from transformer.checkpoint.header import FORMAT_VERSION, TOKENIZER, WORDS, Header, meta_model, read_header
from transformer.checkpoint.refusal import refuse
from transformer.checkpoint.safetensors_layout import MAX_HEADER
from transformer.config import ModelConfig
from transformer.errors import CheckpointError, HeadlightError
from transformer.files.atomic_write import replacing
from transformer.files.open_safetensors import open_safetensors
from transformer.model import Transformer
from transformer.model.positions import PositionalEncoding
from transformer.text.pair_tokenizer import read_tokenizer
from transformer.text.spelling import WordList
from transformer.text.tokenizer import Tokenizer

__all__ = [
    "Checkpoint",
    "TrainedModel",
    "load_checkpoint",
    "load_tokenizer",
    "save_checkpoint",
]


@dataclass(frozen=True)
class TrainedModel:
    """What a checkpoint holds: a model, its tokenizer, and how it was trained."""

    model: Transformer
    tokenizer: Tokenizer
    recipe: dict[str, Any] | None = None  # plain dictionaries; None: it is unknown
    metrics: dict[str, Any] = field(default_factory=dict)  # any JSON
    words: WordList | None = None  # of the source text; None: they are unknown


@dataclass(frozen=True, kw_only=True)
class Checkpoint(TrainedModel):
    """A trained model from a file, ready to translate: in eval mode, on the requested device.

    The weights are float32; `Translator.load` may convert them to bfloat16.
    """

    format_version: int
    path: Path

    @property
    def config(self) -> ModelConfig:
        """The configuration of the model."""
        return self.model.config


def load_checkpoint(path: str | Path, device: str | torch.device = "cpu") -> Checkpoint:
    """Loads a checkpoint for translation, or to continue training from it.

    The header is checked before memory is allocated, tokenizer and weights after they are read. The model is built on
    the meta device and receives the weights, converted to float32. The random state is not changed.

    Raises:
        CheckpointError: the file cannot be loaded; the message lists what is wrong with it.
    """
    header = read_header(path)
    try:
        with open_safetensors(header.path) as file:
            tokenizer = _tokenizer(header, file.get_tensor(TOKENIZER))
            words = _words(header, file.get_tensor(WORDS)) if WORDS in file.keys() else None  # noqa: SIM118
            # A copy, because safetensors returns views of the mapped file, which change when the file does.
            weights = {name: file.get_tensor(name).to(torch.float32, copy=True) for name in header.tensors}
    except (OSError, SafetensorError) as error:
        raise CheckpointError(f"{header.path} cannot be read: {error}.") from error
    broken = [name for name, weight in weights.items() if not _finite(weight)]
    if broken:
        refuse(header.path, [f"{name} contains infinities or NaN." for name in broken])
    model = meta_model(header.config)
    # Not strict, because a shared matrix is stored once; `read_header` has compared all names. Trap: a shared matrix
    # must not become two matrices, because training would then change them separately
    # (test_shared_embeddings_are_one_parameter_after_loading).
    model.load_state_dict(weights, strict=False, assign=True)
    if header.config.positions != "learned":  # computed, not stored
        positions = PositionalEncoding(header.config)
        model.encoder.embedding.positions = model.decoder.embedding.positions = positions
    return Checkpoint(
        model=model.eval().to(device),
        tokenizer=tokenizer,
        recipe=header.recipe,
        metrics=header.metrics,
        words=words,
        format_version=header.format_version,
        path=header.path,
    )


def load_tokenizer(path: str | Path) -> Tokenizer:
    """The tokenizer of a checkpoint, without its weights. Raises CheckpointError."""
    header = read_header(path)
    try:
        with open_safetensors(header.path) as file:
            return _tokenizer(header, file.get_tensor(TOKENIZER))
    except (OSError, SafetensorError) as error:
        raise CheckpointError(f"{header.path} cannot be read: {error}.") from error


def save_checkpoint(path: str | Path, trained: TrainedModel, *, half: bool = False) -> None:
    """Writes a checkpoint, completely or not at all. NaN and infinity in the metrics become null.

    Args:
        trained: its model may be on any device, compiled or not. It is not changed.
        half: store float16, half the size, with about three decimal digits of each weight.

    Raises:
        CheckpointError: the disk is full, the folder cannot be written to (a missing one is made), a weight is not
            finite (or too large for float16), the tokenizer is not the model's, or recipe and metrics are too large. An
            older file of that name is kept.
    """
    path = Path(path)
    model = getattr(trained.model, "_orig_mod", trained.model)  # the model that torch.compile has wrapped
    assert isinstance(model, Transformer)
    tokenizer = trained.tokenizer
    if tokenizer.vocab_size != model.config.vocab_size:
        sizes = f"the model has {model.config.vocab_size} tokens, the tokenizer {tokenizer.vocab_size}"
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
        "recipe": trained.recipe,
        "metrics": trained.metrics,
    }
    metadata = {"headlight": json.dumps(_plain(about), ensure_ascii=False, allow_nan=False)}
    # The header has this text as a JSON string, in which quotes and backslashes take two bytes.
    if len(json.dumps(metadata["headlight"], ensure_ascii=False).encode()) > MAX_HEADER // 2:
        raise CheckpointError(
            f"{path} is not written: recipe and metrics are larger than {MAX_HEADER // 2:,} bytes. Shorten them."
        )
    tensors = weights | {TOKENIZER: _row(tokenizer.to_bytes())}
    if trained.words is not None:
        tensors[WORDS] = _row(trained.words.to_bytes())
    try:
        with replacing(path) as temporary:
            save_file(tensors, temporary, metadata)
    except (OSError, SafetensorError) as error:
        raise CheckpointError(
            f"{path} could not be written: {error}. An older file of that name is not changed. If the disk is full, "
            "free some space, then give the command again; a training continues with --resume."
        ) from error


def _tokenizer(header: Header, stored: Tensor) -> Tokenizer:
    try:
        tokenizer = read_tokenizer(stored.numpy().tobytes())
    except (HeadlightError, RuntimeError, ValueError) as error:
        refuse(header.path, [f"Its tokenizer cannot be read: {error}"])
    if tokenizer.vocab_size != header.config.vocab_size:
        refuse(
            header.path,
            [f"Its tokenizer has {tokenizer.vocab_size} tokens, and its model {header.config.vocab_size}."],
        )
    return tokenizer


def _words(header: Header, stored: Tensor) -> WordList:
    try:
        return WordList.from_bytes(stored.numpy().tobytes())
    except ValueError as error:
        refuse(header.path, [f"Its list of words cannot be read: {error}."])


def _row(content: bytes) -> Tensor:
    """Bytes as a tensor."""
    return torch.frombuffer(bytearray(content), dtype=torch.uint8)


def _finite(weight: Tensor) -> bool:
    """Whether no value is infinite or NaN, without allocating a mask as large as the tensor."""
    low, high = weight.aminmax()
    return bool(torch.isfinite(low) and torch.isfinite(high))


def _plain(value: Any) -> Any:
    """`value` as JSON can represent it: NaN and infinity become null."""
    if isinstance(value, Mapping):
        return {str(name): _plain(member) for name, member in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(member) for member in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
