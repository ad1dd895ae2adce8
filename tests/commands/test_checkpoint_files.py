"""The commands for checkpoint files: `average`, `inspect` and `doctor`."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.support.command_line import one_line, run
from transformer.checkpoint.checkpoint_file import TrainedModel, load_checkpoint, save_checkpoint
from transformer.config import ModelConfig, TokenizerConfig
from transformer.model import Transformer, census
from transformer.text.tokenizer import Tokenizer


def test_averaging_a_checkpoint_with_itself_gives_it_back(checkpoint: Path, tmp_path: Path) -> None:
    result = run("average", tmp_path / "mean.safetensors", checkpoint, checkpoint)
    assert result.exit_code == 0
    mean, original = load_checkpoint(tmp_path / "mean.safetensors").model, load_checkpoint(checkpoint).model
    for averaged, weight in zip(mean.parameters(), original.parameters(), strict=True):
        assert torch.equal(averaged, weight)


def test_a_forgotten_out_overwrites_no_checkpoint(checkpoint: Path) -> None:
    before = checkpoint.read_bytes()
    result = run("average", checkpoint, checkpoint, checkpoint)
    assert result.exit_code == 2
    assert "exists already. Name first the new file to write" in one_line(result.stderr)
    assert checkpoint.read_bytes() == before


def test_inspect_prints_no_terminal_control_characters(tmp_path: Path) -> None:
    tokenizer = Tokenizer.train(["a\x1b[31mb c"] * 9, TokenizerConfig(kind="bpe", vocab_size=20, byte_fallback=False))
    config = ModelConfig(
        vocab_size=tokenizer.vocab_size, encoder_layers=1, decoder_layers=1, d_model=8, d_ff=8, heads=2
    )
    metrics = {"\x1b]0;owned\x07": 1, "note": "\x9b2J\n\u202e", "list": ["\x1b[2J"], "grün": 2}
    save_checkpoint(tmp_path / "x", TrainedModel(Transformer(config), tokenizer, {"name": "\x1b[2J"}, metrics))
    text = run("inspect", tmp_path / "x").stdout
    assert text.replace("\n", "").isprintable()
    assert "\\x1b]0;owned\\x07" in text
    assert run("inspect", tmp_path / "x", "--json").stdout.rstrip("\n").isprintable()


def test_inspect_prints_everything(checkpoint: Path) -> None:
    loaded = load_checkpoint(checkpoint)
    described = json.loads(run("inspect", checkpoint, "--json").stdout)
    assert ModelConfig(**described["config"]) == loaded.config
    parameters = described["parameters"]
    assert parameters["total"] == sum(weight.numel() for weight in loaded.model.parameters())
    assert parameters["total"] == sum(count for part, count in parameters.items() if part != "total")
    assert parameters["encoder self-attention"] == 2 * 4 * (16 * 16 + 16)
    assert parameters["encoder-decoder attention"] == 4 * (16 * 16 + 16)
    assert parameters["embeddings and output projection"] == loaded.config.vocab_size * 16
    assert described["metrics"] == {"valid_bleu": 12.25}
    assert described["tokenizer"]["vocab_size"] == loaded.config.vocab_size
    assert described["tokenizer"]["kinds"]["byte"] == 256
    assert {name: tuple(letters) for name, letters in described["sites"].items()} == census(loaded.config)
    text = run("inspect", checkpoint).stdout
    assert "valid_bleu  12.25" in text
    for site in census(loaded.config):
        assert site.replace(".layers.0.", ".layers.*.").replace(".layers.1.", ".layers.*.") in text
    assert "(B, H, T, S)" in text


@pytest.mark.parametrize(
    "changes", [{"shared_embeddings": False, "norm": "pre"}, {"positions": "learned", "activation": "silu"}]
)
def test_every_parameter_belongs_to_a_part(changes: dict[str, Any]) -> None:
    from transformer.analysis.inspection import parameters_by_part

    with torch.device("meta"):
        model = Transformer(ModelConfig(vocab_size=20, d_model=8, d_ff=8, heads=2, **changes))
    assert sum(parameters_by_part(model).values()) == sum(weight.numel() for weight in model.parameters())


def test_the_doctor_says_what_is_wrong_and_prints_no_terminal_control_characters(checkpoint: Path) -> None:
    assert run("doctor", checkpoint).stdout == "Nothing found.\n"  # in the weights
    text = run("doctor", checkpoint, "--sentence", "a \ue000 cat").stdout
    assert "“\\ue000”" in text
    assert text.replace("\n", "").isprintable()
    found = json.loads(run("doctor", checkpoint, "--sentence", "a \ue000 cat", "--json").stdout)
    assert {"cut", "no_letters"} <= {finding["name"] for finding in found}
