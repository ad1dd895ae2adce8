"""The header of a checkpoint, read and checked before anything is allocated.

Headlight adds to a .safetensors file one entry of metadata, `headlight`, which is JSON:

    {"format_version": 3, "config": {...}, "recipe": {...} or null, "metrics": {...}}

and one tensor of bytes, `tokenizer`: the sentencepiece model. Since version 2 the tokenizer may be two sentencepiece
models with a vocabulary (pair_tokenizer.py), and the model may have an output bias. Since version 3 there may be
another tensor of bytes, `words`: the words of the source text (spelling.py). (There is only one entry of metadata,
because safetensors writes several entries in random order, and equal checkpoints should be equal files.)
Nothing in the file is trusted: names, shapes and dtypes are compared with a model that is built on the meta device,
where tensors have no memory.
"""

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import torch

from transformer.checkpoint.refusal import refuse
from transformer.checkpoint.safetensors_layout import StoredTensor, read_layout
from transformer.config import ModelConfig
from transformer.files.strict_json import parse_object
from transformer.files.untrusted_values import shown, validate
from transformer.model import Transformer

FORMAT_VERSION = 3
TOKENIZER, WORDS = "tokenizer", "words"


@dataclass(frozen=True)
class Header:
    """Everything about a checkpoint except its weights."""

    path: Path
    file_size: int  # bytes
    format_version: int
    config: ModelConfig
    recipe: dict[str, Any] | None
    metrics: dict[str, Any]
    tensors: dict[str, StoredTensor]  # the weights by name, without tokenizer and words

    @property
    def parameters(self) -> int:
        """The number of trained parameters; a shared matrix counts once."""
        return sum(math.prod(tensor.shape) for tensor in self.tensors.values())

    @property
    def half(self) -> bool:
        """Whether weights are stored in half precision. They are converted to float32 when they are loaded."""
        return any(tensor.dtype == "F16" for tensor in self.tensors.values())


def read_header(path: str | Path) -> Header:
    """Reads and checks everything about a checkpoint except its weights and its tokenizer.

    Raises:
        CheckpointError: the file is not a Headlight checkpoint; the message lists everything that is wrong.
    """
    path = Path(path)
    layout = read_layout(path)
    problems = list(layout.problems)
    about = _about(path, layout.metadata)
    config, config_problems = validate(ModelConfig, _section(about, "config", problems), prefix="config.")
    recipe = None if about.get("recipe") is None else _section(about, "recipe", problems)
    metrics = _section(about, "metrics", problems)
    problems += config_problems
    if config is not None:
        problems += _check_tensors(config, layout.tensors)
    if problems or config is None:
        refuse(path, problems)
    weights = {name: tensor for name, tensor in layout.tensors.items() if name not in (TOKENIZER, WORDS)}
    return Header(path, layout.file_size, about["format_version"], config, recipe, metrics, weights)


def meta_model(config: ModelConfig) -> Transformer:
    """The model on the meta device: names and shapes of its weights, without memory and without a sinusoidal table.

    The table is not a weight. To compute it on the meta device torch would import a compiler, which takes seconds. So
    the model is built without positions.
    """
    with torch.device("meta"):
        model = Transformer(config if config.positions == "learned" else replace(config, positions="none"))
    model.config = config
    return model


@lru_cache(maxsize=32)
def _weight_shapes(config: ModelConfig) -> dict[str, tuple[int, ...]]:
    """Of each weight, by its name. They are kept, because a model takes some milliseconds to build even without memory,
    and checkpoints of one run or one family have the same configuration."""
    return {name: tuple(weight.shape) for name, weight in meta_model(config).named_parameters()}


def _about(path: Path, metadata: object) -> dict[str, Any]:
    """What Headlight wrote about the checkpoint. Refuses a file of another program or of a later format."""
    text = metadata.get("headlight") if isinstance(metadata, dict) else None
    if not isinstance(text, str):
        refuse(path, ["It is a safetensors file, but Headlight did not write it: it does not describe a model."])
    try:
        about = parse_object(text)
    except ValueError as error:
        refuse(path, [f"Its description of the model is not JSON: {error}."])
    version = about.get("format_version")
    if type(version) is not int or version < 1:
        refuse(path, [f"Its format version is {shown(version)}, which does not exist."])
    if version > FORMAT_VERSION:
        problem = f"Its format version is {shown(version)}; this Headlight reads up to {FORMAT_VERSION}."
        refuse(path, [problem], advice="Update Headlight.")
    return about


def _section(about: dict[str, Any], name: str, problems: list[str]) -> dict[str, Any]:
    value = about.get(name)
    if not isinstance(value, dict):
        problems.append(f"Its {name} should be a JSON object and is {shown(value)}.")
        return {}
    return value


def _check_tensors(config: ModelConfig, tensors: dict[str, StoredTensor]) -> list[str]:
    """Compares names, shapes and dtypes with the model that the configuration describes; returns the problems."""
    problems = []
    if TOKENIZER not in tensors:
        problems.append("It has no tokenizer.")
    for name in (TOKENIZER, WORDS):
        bytes_of = tensors.get(name)
        if bytes_of is not None and (bytes_of.dtype != "U8" or len(bytes_of.shape) != 1):
            problems.append(f"Its {name} should be a row of bytes.")
    layers = config.encoder_layers + config.decoder_layers
    if layers > len(tensors):  # before a model of that size is built
        return [*problems, f"Its configuration has {layers} layers, and the file has {len(tensors)} tensors."]
    expected = _weight_shapes(config)
    for name, shape in expected.items():
        found = tensors.get(name)
        if found is None:
            problems.append(f"{name} is missing.")
        elif found.shape != shape:
            problems.append(f"{name} has the shape {shown(found.shape)} instead of {shape}.")
        elif found.dtype not in ("F32", "F16"):
            problems.append(f"{name} has the dtype {shown(found.dtype)} instead of F32 or F16.")
    unexpected = tensors.keys() - expected.keys() - {TOKENIZER, WORDS}
    problems += [f"{shown(name)} is not a weight of this model." for name in sorted(unexpected)]
    return problems
