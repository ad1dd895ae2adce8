"""One safe file in, one safe file out: a loaded model computes what the saved one did."""

import copy
import math
import resource
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from tests.support.small_checkpoint import LINES, complaint, logits, tiny
from transformer.checkpoint.averaging import average_checkpoints
from transformer.checkpoint.checkpoint_file import (
    Checkpoint,
    TrainedModel,
    load_checkpoint,
    save_checkpoint,
)
from transformer.checkpoint.header import FORMAT_VERSION, read_header
from transformer.config import TokenizerConfig
from transformer.errors import CheckpointError
from transformer.text.spelling import WordList
from transformer.text.tokenizer import Tokenizer

FORMATS = {version: Path(__file__).parent / f"format-{version}.safetensors" for version in (1, 2, 3)}
WORDS = WordList({"the": 4, "cat": 1})


def make_old_format(path: Path, version: int) -> None:
    """How the files of earlier formats in tests/checkpoint were made, by the code of their time. They never change; a
    later format gets its own file. Since version 2 a model may have an output bias, since version 3 a list of words."""
    lines = [*LINES, "0123456789"]
    tokenizer = Tokenizer.train(lines, TokenizerConfig(vocab_size=48, byte_fallback=False))
    model = tiny(tokenizer, output_bias=version > 1)
    metrics = {
        "logits": [[round(x, 6) for x in row] for row in logits(model).tolist()],
        "ids": tokenizer.encode(LINES[0]),
    }
    words = WORDS if version > 2 else None
    save_checkpoint(path, TrainedModel(model, tokenizer, {"name": f"format-{version}"}, metrics, words))


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"shared_embeddings": False},
        {"positions": "learned", "norm": "pre"},
        {"positions": "none"},
        {"sinusoid_layout": "concatenated", "attention_window": 2, "activation": "gelu"},
    ],
)
def test_a_loaded_model_computes_bit_for_bit_what_the_saved_one_did(
    tokenizer: Tokenizer, tmp_path: Path, changes: dict[str, Any]
) -> None:
    model = tiny(tokenizer, **changes)
    save_checkpoint(tmp_path / "x.safetensors", TrainedModel(model, tokenizer, {"a": {"b": [1]}}, {"bleu": 1.5}))
    loaded = load_checkpoint(tmp_path / "x.safetensors")
    assert torch.equal(logits(loaded.model), logits(model))
    assert not loaded.model.training
    assert loaded.config == model.config
    assert loaded.recipe == {"a": {"b": [1]}}
    assert loaded.metrics == {"bleu": 1.5}
    assert loaded.tokenizer.to_bytes() == tokenizer.to_bytes()
    assert not any(tensor.is_meta for tensor in [*loaded.model.parameters(), *loaded.model.buffers()])


def test_shared_embeddings_are_one_parameter_after_loading(saved: Path) -> None:
    model = load_checkpoint(saved).model
    for moved in (model, copy.deepcopy(model), model.to(torch.float64), torch.compile(model)._orig_mod):  # type: ignore[attr-defined]
        assert moved.encoder.embedding.tokens.weight is moved.decoder.embedding.tokens.weight
        assert moved.encoder.embedding.tokens.weight is moved.output.weight
    named = dict(model.named_parameters())
    assert len(named) == len({id(weight) for weight in named.values()})
    assert all(weight.requires_grad for weight in named.values())


def test_shared_embeddings_are_stored_and_counted_once(saved: Path, tokenizer: Tokenizer) -> None:
    stored = load_file(saved)
    model = tiny(tokenizer)
    embeddings = [name for name, weight in stored.items() if weight.shape == (tokenizer.vocab_size, 16)]
    assert embeddings == ["encoder.embedding.tokens.weight"]
    assert not [name for name in stored if "_orig_mod" in name or "positions" in name]
    assert read_header(saved).parameters == sum(weight.numel() for weight in model.parameters())


def test_a_compiled_model_is_saved_under_the_names_of_the_plain_one(tokenizer: Tokenizer, tmp_path: Path) -> None:
    model = tiny(tokenizer)
    save_checkpoint(tmp_path / "x.safetensors", TrainedModel(torch.compile(model), tokenizer))  # type: ignore[arg-type]
    assert torch.equal(logits(load_checkpoint(tmp_path / "x.safetensors").model), logits(model))


def test_equal_checkpoints_are_equal_files(tokenizer: Tokenizer, tmp_path: Path) -> None:
    contents = set()
    for i in range(5):
        path = tmp_path / f"{i}.safetensors"
        save_checkpoint(path, TrainedModel(tiny(tokenizer), tokenizer, {"x": 1, "y": 2}, {"z": 3}))
        contents.add(path.read_bytes())
    assert len(contents) == 1


def test_half_precision_halves_the_file_and_is_computed_in_float32(tokenizer: Tokenizer, tmp_path: Path) -> None:
    model = tiny(tokenizer, d_model=64, d_ff=256)
    for name, half in (("full", False), ("half", True)):
        save_checkpoint(tmp_path / name, TrainedModel(model, tokenizer), half=half)
    weights = [read_header(tmp_path / name).file_size - len(tokenizer.to_bytes()) for name in ("full", "half")]
    assert weights[1] < 0.6 * weights[0]
    assert read_header(tmp_path / "half").half
    loaded = load_checkpoint(tmp_path / "half").model
    assert {weight.dtype for weight in loaded.parameters()} == {torch.float32}
    torch.testing.assert_close(logits(loaded), logits(model), rtol=0, atol=0.02)
    assert not torch.equal(logits(loaded), logits(model))
    assert next(model.parameters()).dtype == torch.float32  # the saved model has not changed


def test_loading_leaves_the_random_state_alone(saved: Path) -> None:
    state = torch.get_rng_state()
    load_checkpoint(saved)
    assert torch.equal(torch.get_rng_state(), state)


def test_overwriting_its_file_does_not_change_a_loaded_model(saved: Path) -> None:
    model = load_checkpoint(saved).model
    before = logits(model)
    saved.write_bytes(b"\xff" * saved.stat().st_size)
    assert torch.equal(logits(model), before)


def test_metrics_that_are_not_finite_become_null(tokenizer: Tokenizer, tmp_path: Path) -> None:
    metrics = {"loss": math.nan, "history": [1.0, -math.inf]}
    save_checkpoint(tmp_path / "x", TrainedModel(tiny(tokenizer), tokenizer, metrics=metrics))
    assert read_header(tmp_path / "x").metrics == {"loss": None, "history": [1.0, None]}


@pytest.mark.parametrize(("version", "path"), FORMATS.items())
def test_each_format_still_loads(version: int, path: Path) -> None:
    assert path.stat().st_size < 100_000
    checkpoint: Checkpoint = load_checkpoint(path)
    assert (checkpoint.format_version, checkpoint.words) == (version, WORDS if version > 2 else None)
    assert checkpoint.config.output_bias == (version > 1)
    assert checkpoint.tokenizer.encode(LINES[0]) == checkpoint.metrics["ids"]
    # The model that was saved wrote these logits into the file.
    torch.testing.assert_close(
        logits(checkpoint.model), torch.tensor(checkpoint.metrics["logits"]), rtol=1e-4, atol=1e-5
    )


def test_the_format_of_now_has_a_file() -> None:
    assert max(FORMATS) == FORMAT_VERSION


def test_the_words_of_the_source_text_are_kept(tokenizer: Tokenizer, saved: Path, tmp_path: Path) -> None:
    assert load_checkpoint(saved).words is None
    path = tmp_path / "words.safetensors"
    save_checkpoint(path, TrainedModel(tiny(tokenizer), tokenizer, words=WORDS))
    assert load_checkpoint(path).words == WORDS
    average_checkpoints(tmp_path / "mean.safetensors", [path, path])
    assert load_checkpoint(tmp_path / "mean.safetensors").words == WORDS
    header = read_header(path)
    assert header.tensors.keys() == read_header(saved).tensors.keys()
    assert header.parameters == read_header(saved).parameters


def test_words_that_are_damaged_are_refused(tokenizer: Tokenizer, saved: Path) -> None:
    class Damaged(WordList):
        def to_bytes(self) -> bytes:
            return b"damaged"

    save_checkpoint(saved, TrainedModel(tiny(tokenizer), tokenizer, words=Damaged({})))
    assert "Its list of words cannot be read" in complaint(saved)


def test_weights_that_are_not_finite_are_not_saved(tokenizer: Tokenizer, saved: Path) -> None:
    before = saved.read_bytes()
    model = tiny(tokenizer)
    torch.nn.init.constant_(model.encoder.layers[0].feed_forward.hidden.weight, math.nan)
    with pytest.raises(CheckpointError, match="diverged"):
        save_checkpoint(saved, TrainedModel(model, tokenizer))
    torch.nn.init.constant_(model.encoder.layers[0].feed_forward.hidden.weight, 1e5)
    with pytest.raises(CheckpointError, match="too large for half precision"):
        save_checkpoint(saved, TrainedModel(model, tokenizer), half=True)
    assert saved.read_bytes() == before


def test_a_tokenizer_of_another_size_is_not_saved(tokenizer: Tokenizer, tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=f"41 tokens, the tokenizer {tokenizer.vocab_size}"):
        save_checkpoint(tmp_path / "x", TrainedModel(tiny(tokenizer, vocab_size=41), tokenizer))


def test_with_a_full_disk_the_old_file_stays_and_the_message_says_so(saved: Path) -> None:
    """A full disk is simulated: this process may not write a file larger than 5 kB."""
    before = saved.read_bytes()
    checkpoint = load_checkpoint(saved)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (5_000, limits[1]))
    try:
        with pytest.raises(CheckpointError, match=r"could not be written.*older file of that name is not changed"):
            save_checkpoint(saved, TrainedModel(checkpoint.model, checkpoint.tokenizer))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert saved.read_bytes() == before
    assert list(saved.parent.iterdir()) == [saved]


def test_a_checkpoint_has_the_permissions_of_other_new_files(saved: Path) -> None:
    plain = saved.with_name("plain.txt")
    plain.touch()
    assert saved.stat().st_mode == plain.stat().st_mode


@pytest.mark.parametrize("character", ["a", '"', "\\", "\n", "\x01", "ä", "😀"])
def test_a_description_of_any_characters_that_is_saved_can_be_read(
    tokenizer: Tokenizer, tmp_path: Path, character: str
) -> None:
    """The header of a file is limited in bytes, and a character may take many."""
    path, model = tmp_path / "long.safetensors", tiny(tokenizer, encoder_layers=12, decoder_layers=12)
    for length in (200_000, 1_040_000):
        try:
            save_checkpoint(path, TrainedModel(model, tokenizer, None, {"text": character * length}))
        except CheckpointError as error:
            assert length > 200_000
            assert "recipe and metrics are larger" in str(error)  # noqa: PT017
        else:
            assert read_header(path).metrics["text"] == character * length
