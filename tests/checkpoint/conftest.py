"""A small checkpoint for many tests."""

from pathlib import Path

import pytest

from tests.support.small_checkpoint import LINES, tiny
from transformer.checkpoint.checkpoint_file import TrainedModel, save_checkpoint
from transformer.config import TokenizerConfig
from transformer.text.tokenizer import Tokenizer


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return Tokenizer.train(LINES, TokenizerConfig(vocab_size=60, byte_fallback=False))


@pytest.fixture
def saved(tokenizer: Tokenizer, tmp_path: Path) -> Path:
    path = tmp_path / "tiny.safetensors"
    save_checkpoint(path, TrainedModel(tiny(tokenizer), tokenizer, {"name": "tiny"}, {"bleu": 12.5}))
    return path
