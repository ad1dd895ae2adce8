"""A tiny checkpoint for the commands."""

from pathlib import Path

import pytest
import torch

from transformer.checkpoint.checkpoint_file import TrainedModel, save_checkpoint
from transformer.config import ModelConfig, TokenizerConfig
from transformer.model import Transformer
from transformer.text.tokenizer import Tokenizer

LINES = ["a cat sat on a mat.", "the dog ran.", "eine Katze sass.", "der Hund lief."]


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A random model: what it says is nonsense, but always the same."""
    path = tmp_path_factory.mktemp("checkpoint") / "tiny.safetensors"
    tokenizer = Tokenizer.train(LINES, TokenizerConfig(vocab_size=320))
    torch.manual_seed(0)
    config = ModelConfig(
        vocab_size=tokenizer.vocab_size,
        encoder_layers=2,
        decoder_layers=1,
        d_model=16,
        d_ff=16,
        heads=2,
        max_positions=48,
    )
    recipe = {"name": "tiny", "decoding": {"max_extra_length": 3, "beam": 2}}
    save_checkpoint(path, TrainedModel(Transformer(config), tokenizer, recipe, {"valid_bleu": 12.25}))
    return path
