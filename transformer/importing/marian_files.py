"""The files of a MarianMT model of Hugging Face, read and checked: what `save_pretrained` of model and tokenizer wrote.

    config.json  source.spm  target.spm  vocab.json  model.safetensors or pytorch_model.bin
    generation_config.json  tokenizer_config.json                                              (may be missing)

Nothing in them is executed: weights in pickled form are read by torch with `weights_only`, which refuses all else.
"""

import pickle
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor

from transformer.errors import CheckpointError
from transformer.files.strict_json import parse_object

WEIGHTS = ("model.safetensors", "pytorch_model.bin")
EXPECTED = ("config.json", "source.spm", "target.spm", "vocab.json")
ADVICE = (
    "Give a folder with a MarianMT model as Hugging Face stores it, for example one that "
    "`hf download Helsinki-NLP/opus-mt-en-de --local-dir opus-mt-en-de` made (`pip install huggingface_hub`)."
)


@dataclass(frozen=True)
class MarianFiles:
    """What a folder holds.

    Attributes:
        config: the options of the model. generation: those of its search.
        languages: codes of source and target, "" if unknown.
        source, target: serialized sentencepiece models.
        ids: token -> id, of both languages.
        weights: by Hugging Face's names.
    """

    folder: Path
    config: Mapping[str, Any]
    generation: Mapping[str, Any]
    languages: tuple[str, str]
    source: bytes
    target: bytes
    ids: Mapping[str, int]
    weights: Mapping[str, Tensor]


def read_marian(folder: Path) -> MarianFiles:
    """Reads the folder. Raises CheckpointError, which names everything that is missing."""
    missing = [name for name in EXPECTED if not (folder / name).is_file()]
    if not any((folder / name).is_file() for name in WEIGHTS):
        missing.append(" or ".join(WEIGHTS))
    if missing:
        raise CheckpointError(f"{folder} has no {', no '.join(missing)}. {ADVICE}")
    tokenizer = _json(folder / "tokenizer_config.json") if (folder / "tokenizer_config.json").is_file() else {}
    has_generation = (folder / "generation_config.json").is_file()
    ids = _json(folder / "vocab.json")
    if not all(type(id) is int and 0 <= id < len(ids) for id in ids.values()) or len(set(ids.values())) != len(ids):
        raise CheckpointError(f"{folder / 'vocab.json'} does not number its tokens from 0, each once. {ADVICE}")
    source, target = (str(tokenizer.get(name) or "") for name in ("source_lang", "target_lang"))
    config = _json(folder / "config.json")
    return MarianFiles(
        folder=folder,
        config=config,
        generation=_json(folder / "generation_config.json") if has_generation else config,
        languages=(source, target),
        source=(folder / "source.spm").read_bytes(),
        target=(folder / "target.spm").read_bytes(),
        ids=ids,
        weights=_weights(folder),
    )


def _json(path: Path) -> dict[str, Any]:
    try:
        return parse_object(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise CheckpointError(f"{path} is not a JSON object: {error}. {ADVICE}") from None


def _weights(folder: Path) -> dict[str, Tensor]:
    path = next(folder / name for name in WEIGHTS if (folder / name).is_file())
    try:
        if path.suffix == ".safetensors":
            return load_file(path)
        found = torch.load(path, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError:  # torch's own message advises to load it without this check
        raise CheckpointError(
            f"{path} cannot be read as weights: it is not a file of torch (perhaps a pointer of Git LFS, or a web "
            f"page), or it has more than weights. {ADVICE}"
        ) from None
    except (SafetensorError, RuntimeError, EOFError, OSError, ValueError) as error:
        reason = str(error).strip().partition("\n")[0] or "it is empty or cut off"
        raise CheckpointError(f"{path} cannot be read as weights: {reason}. {ADVICE}") from None
    if not isinstance(found, dict) or not all(isinstance(value, Tensor) for value in found.values()):
        raise CheckpointError(f"{path} does not hold weights by name. {ADVICE}")
    return found
