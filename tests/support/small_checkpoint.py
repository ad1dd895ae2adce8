"""A small model and its checkpoint, a way to change the checkpoint's header, and the message about a wrong file."""

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from transformer.checkpoint.checkpoint_file import load_checkpoint
from transformer.config import BOS, EOS, ModelConfig
from transformer.errors import CheckpointError
from transformer.model import Transformer
from transformer.text.tokenizer import Tokenizer

LINES = ["the cat sat on the mat", "die Katze sass auf der Matte", "a dog and a bone", "ein Hund und ein Knochen"]
NORM = "encoder.layers.0.self_attention_residual.norm.weight"


def tiny(tokenizer: Tokenizer, **changes: Any) -> Transformer:
    torch.manual_seed(0)
    sizes: dict[str, Any] = {"encoder_layers": 2, "decoder_layers": 1, "d_model": 16, "d_ff": 24, "heads": 2}
    sizes |= {"max_positions": 32, "vocab_size": tokenizer.vocab_size}
    return Transformer(ModelConfig(**sizes | changes)).eval()


def logits(model: Transformer) -> Tensor:
    """(T, V) for one fixed pair of sentences."""
    source = torch.tensor([[5, 6, 7, 8, EOS]])
    with torch.inference_mode():
        return model(source, torch.tensor([[BOS, 9, 10, 11]]))[0]


def rewrite(path: Path, change: Callable[[dict[str, Any], dict[str, Any]], object], data: bytes | None = None) -> None:
    """Changes the header of a checkpoint: `change(entries, about)` may change both."""
    content = path.read_bytes()
    length = int.from_bytes(content[:8], "little")
    entries = json.loads(content[8 : 8 + length])
    about = json.loads(entries["__metadata__"]["headlight"])
    change(entries, about)
    if "headlight" in entries.get("__metadata__", {}):
        entries["__metadata__"]["headlight"] = json.dumps(about)
    header = json.dumps(entries).encode()
    path.write_bytes(len(header).to_bytes(8, "little") + header + (content[8 + length :] if data is None else data))


def complaint(path: Path) -> str:
    """The message, which comes quickly and says what to do."""
    started = time.process_time()
    with pytest.raises(CheckpointError) as caught:
        load_checkpoint(path)
    assert time.process_time() - started < 3
    message = str(caught.value)
    assert str(path) in message
    assert "a .safetensors file that Headlight wrote" in message or "Update Headlight." in message
    assert message.isprintable() or "\n- " in message
    return message
