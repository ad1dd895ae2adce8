"""The average of checkpoints is the mean of each weight; all must have the same architecture and tokenizer."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from transformer.checkpoint.averaging import average_checkpoints
from transformer.checkpoint.checkpoint_file import TrainedModel, load_checkpoint, save_checkpoint
from transformer.checkpoint.header import read_header
from transformer.config import ModelConfig, TokenizerConfig
from transformer.errors import CheckpointError
from transformer.model import Transformer
from transformer.text.tokenizer import Tokenizer


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return Tokenizer.train(["abc abd acd", "bcd bca"], TokenizerConfig(vocab_size=12, byte_fallback=False))


Make = Callable[..., Path]


@pytest.fixture
def make(tokenizer: Tokenizer, tmp_path: Path) -> Make:
    """Writes a tiny checkpoint; `edit` may change its weights first."""

    def write(
        name: str,
        seed: int = 0,
        edit: Callable[[torch.Tensor], torch.Tensor] = lambda x: x,
        half: bool = False,
        **changes: Any,
    ) -> Path:
        torch.manual_seed(seed)
        sizes: dict[str, Any] = {"encoder_layers": 1, "decoder_layers": 1, "d_model": 8, "d_ff": 8, "heads": 2}
        model = Transformer(ModelConfig(vocab_size=tokenizer.vocab_size, **sizes | changes))
        with torch.no_grad():
            for weight in model.parameters():
                weight.copy_(edit(weight))
        path = tmp_path / name
        metrics = {"update": seed, "bleu": 3.0}
        save_checkpoint(path, TrainedModel(model, tokenizer, {"name": name}, metrics), half=half)
        return path

    return write


def weights(path: Path) -> dict[str, torch.Tensor]:
    return dict(load_checkpoint(path).model.named_parameters())


@pytest.mark.parametrize("shared", [True, False])
def test_the_average_of_equal_checkpoints_is_that_checkpoint(make: Make, tmp_path: Path, shared: bool) -> None:
    paths = [make(f"{i}.safetensors", shared_embeddings=shared) for i in range(7)]
    average_checkpoints(tmp_path / "mean", paths)
    expected = weights(paths[0])
    for name, weight in weights(tmp_path / "mean").items():
        assert torch.equal(weight, expected[name]), name


def test_the_average_of_a_model_and_its_negative_is_zero(make: Make, tmp_path: Path) -> None:
    average_checkpoints(tmp_path / "mean", [make("plus"), make("minus", edit=torch.neg)])
    assert all(not weight.any() for weight in weights(tmp_path / "mean").values())


def test_the_average_of_three_is_their_mean_and_still_shares_its_embeddings(make: Make, tmp_path: Path) -> None:
    paths = [make(f"{seed}", seed=seed) for seed in (1, 2, 3)]
    average_checkpoints(tmp_path / "mean", paths)
    parts = [weights(path) for path in paths]
    for name, weight in weights(tmp_path / "mean").items():
        torch.testing.assert_close(weight, torch.stack([part[name] for part in parts]).mean(dim=0))
    loaded = load_checkpoint(tmp_path / "mean")
    assert loaded.model.output.weight is loaded.model.encoder.embedding.tokens.weight
    assert loaded.metrics == {"averaged": ["1", "2", "3"], "update": 3}  # not the scores of the parts
    assert loaded.recipe == {"name": "1"}


def test_an_average_may_overwrite_one_of_its_parts(make: Make) -> None:
    plus = make("plus")
    average_checkpoints(plus, [plus, make("minus", edit=torch.neg)])
    assert all(not weight.any() for weight in weights(plus).values())


def test_the_average_of_half_precision_checkpoints_is_stored_in_half(make: Make, tmp_path: Path) -> None:
    average_checkpoints(tmp_path / "mean", [make("a", half=True), make("b", half=True)])
    assert read_header(tmp_path / "mean").half


def test_all_checkpoints_of_other_architectures_are_listed_at_once(make: Make, tmp_path: Path) -> None:
    paths = [make("a"), make("b", heads=4), make("c", norm="pre", activation="gelu")]
    with pytest.raises(CheckpointError) as caught:
        average_checkpoints(tmp_path / "mean", paths)
    message = str(caught.value)
    assert f"{paths[1]} has another architecture than {paths[0]}: heads differ" in message
    assert "norm, activation differ" in message
    assert not (tmp_path / "mean").exists()


def test_dropout_may_differ(make: Make, tmp_path: Path) -> None:
    average_checkpoints(tmp_path / "mean", [make("a", dropout=0.1), make("b", dropout=0.2, attention_dropout=0.1)])
    assert load_checkpoint(tmp_path / "mean").config.dropout == 0.1


@pytest.mark.parametrize("update", ["many", None, [3], True, 2.5])
def test_an_update_that_is_not_an_integer_is_ignored(make: Make, tmp_path: Path, update: object) -> None:
    first = load_checkpoint(make("a", seed=3))
    save_checkpoint(tmp_path / "b", TrainedModel(first.model, first.tokenizer, metrics={"update": update}))
    average_checkpoints(tmp_path / "mean", [tmp_path / "a", tmp_path / "b"])
    assert load_checkpoint(tmp_path / "mean").metrics["update"] == 3


def test_another_vocabulary_of_the_same_size_is_refused(make: Make, tokenizer: Tokenizer, tmp_path: Path) -> None:
    first = make("a")
    other = Tokenizer.train(["xyz xyw xzw", "yzw yzx"], TokenizerConfig(vocab_size=12, byte_fallback=False))
    assert other.vocab_size == tokenizer.vocab_size
    checkpoint = load_checkpoint(first)
    save_checkpoint(tmp_path / "b", TrainedModel(checkpoint.model, other))
    with pytest.raises(CheckpointError, match="another vocabulary"):
        average_checkpoints(tmp_path / "mean", [first, tmp_path / "b"])


def test_an_empty_list_cannot_be_averaged(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="at least one checkpoint to average"):
        average_checkpoints(tmp_path / "mean", [])
