"""What a run can start from: another model's weights, with its vocabulary or with one of its own."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from tests.support.small_training import MODEL, assert_same_run, tensors, toy_recipe
from transformer.checkpoint.checkpoint_file import load_checkpoint
from transformer.config import Recipe, TokenizerConfig
from transformer.errors import ConfigError, TrainingError
from transformer.model import Transformer
from transformer.recipe_files import check_files
from transformer.text.tokenizer import Tokenizer
from transformer.training import train
from transformer.training.init_from import EMBEDDINGS, Initialisation, embed, ids_in
from transformer.training.run_recipe import keep_recipe, read_run_recipe


def starting_with(recipe: Recipe, checkpoint: Path, own_vocabulary: bool = False) -> Recipe:
    """The recipe, with a checkpoint to start with."""
    changed = replace(recipe.training, init_from=str(checkpoint), own_vocabulary=own_vocabulary)
    return replace(recipe, training=changed)


def test_init_from_starts_with_the_weights_and_the_vocabulary_of_a_checkpoint(finished: Path, tmp_path: Path) -> None:
    recipe = toy_recipe(updates=1, peak_rate=1e-30)
    different = replace(recipe, tokenizer=TokenizerConfig(vocab_size=300, byte_fallback=False))
    start = finished / "best.safetensors"
    train(starting_with(different, start), tmp_path, device="cpu")
    given, found = tensors(start), tensors(tmp_path / "last.safetensors")
    assert given.keys() == found.keys()
    assert all(torch.equal(tensor, found[name]) for name, tensor in given.items())
    train(replace(different, training=replace(recipe.training, updates=2)), tmp_path, resume=True, device="cpu")
    assert load_checkpoint(tmp_path / "last.safetensors").config.vocab_size == 313


def test_init_from_another_architecture_is_refused_with_the_differences(finished: Path, tmp_path: Path) -> None:
    """Neither the number of heads nor the norm's place shows in any shape."""
    recipe = toy_recipe()
    other = replace(recipe, model=replace(MODEL, heads=4, norm="pre", dropout=0.3))
    with pytest.raises(TrainingError) as caught:
        train(starting_with(other, finished / "best.safetensors"), tmp_path, device="cpu")
    assert "model.heads: 2 there, 4 here" in str(caught.value)
    assert "model.norm: post there, pre here" in str(caught.value)
    assert "dropout" not in str(caught.value)


def test_another_vocabulary_beside_that_of_the_checkpoint_is_refused(finished: Path, tmp_path: Path) -> None:
    recipe = starting_with(toy_recipe(updates=1), finished / "best.safetensors")
    recipe = replace(recipe, tokenizer=TokenizerConfig(model=str(finished / "tokenizer.model")))
    with pytest.raises(ConfigError, match=r"brings the vocabulary of its checkpoint, and tokenizer\.model names"):
        train(recipe, tmp_path, device="cpu")


def test_with_a_vocabulary_of_its_own_the_layers_and_the_pieces_in_common_start_as_in_the_checkpoint(
    finished: Path, tmp_path: Path
) -> None:
    """The toy's other vocabulary lacks the 256 bytes; what it has stands there under other numbers."""
    recipe = toy_recipe(updates=1, peak_rate=1e-30)
    other = replace(recipe, tokenizer=TokenizerConfig(vocab_size=300, byte_fallback=False))
    start = finished / "best.safetensors"
    train(starting_with(other, start, own_vocabulary=True), tmp_path, device="cpu")
    given, found = load_checkpoint(start), load_checkpoint(tmp_path / "last.safetensors")
    assert found.config.vocab_size < given.config.vocab_size
    before, after = given.model.state_dict(), found.model.state_dict()
    layers = before.keys() - set(EMBEDDINGS)
    assert len(layers) > 20
    assert all(torch.equal(before[name], after[name]) for name in layers)
    old = {given.tokenizer.token(id): row for id, row in enumerate(given.model.output.weight)}
    rows = [(found.tokenizer.token(id), row) for id, row in enumerate(found.model.output.weight)]
    common = [(row, old[token]) for token, row in rows if token in old]
    assert len(common) > 10
    assert all(torch.equal(row, there) for row, there in common)
    # Resuming needs neither the checkpoint nor the option.
    train(replace(other, training=replace(other.training, updates=2)), tmp_path, resume=True, device="cpu")
    assert load_checkpoint(tmp_path / "last.safetensors").tokenizer.to_bytes() == found.tokenizer.to_bytes()


def test_a_bias_goes_along_with_its_piece_and_a_new_piece_has_the_median(finished: Path) -> None:
    given = load_checkpoint(finished / "best.safetensors")
    config = replace(given.config, output_bias=True)
    trained = Transformer(config)
    trained.output_bias.data = torch.arange(config.vocab_size, dtype=torch.float32)  # type: ignore[union-attr]
    with_bias = replace(given, model=trained)
    other = Tokenizer.train(["ÄÖÜ 123", "ÜÄÖ 321"], TokenizerConfig(vocab_size=20, byte_fallback=False))
    model = Transformer(replace(config, vocab_size=other.vocab_size))
    Initialisation(with_bias).copy_to(model, other)
    old = {given.tokenizer.token(id): float(id) for id in range(config.vocab_size)}
    expected = [old.get(other.token(id), float((config.vocab_size - 1) // 2)) for id in range(other.vocab_size)]
    assert model.output_bias.tolist() == expected  # type: ignore[union-attr]
    assert 4 < len(set(expected)) < len(expected)  # some are known and several are new


@pytest.mark.parametrize("own_vocabulary", [False, True])
def test_a_run_that_was_killed_while_its_text_was_prepared_is_resumed_with_the_weights_it_was_to_begin_with(
    own_vocabulary: bool, finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By its folder alone, from another current folder; the recipe names the checkpoint relative to the first one."""
    recipe = replace(toy_recipe(updates=1), tokenizer=TokenizerConfig(vocab_size=300, byte_fallback=False))
    alone, run = tmp_path / "alone", tmp_path / "run"
    monkeypatch.chdir(finished)
    recipe = starting_with(recipe, Path("best.safetensors"), own_vocabulary)
    train(recipe, alone, device="cpu")
    run.mkdir()
    keep_recipe(run, recipe)
    monkeypatch.chdir(tmp_path)
    train(read_run_recipe(run), run, resume=True, device="cpu")
    assert_same_run(run, alone)


def test_a_run_that_has_saved_its_weights_no_longer_needs_the_checkpoint_that_it_started_with(
    finished: Path, tmp_path: Path
) -> None:
    checkpoint = tmp_path / "first.safetensors"
    checkpoint.write_bytes((finished / "best.safetensors").read_bytes())
    recipe = starting_with(toy_recipe(updates=1), checkpoint)
    train(recipe, tmp_path / "run", device="cpu")
    checkpoint.unlink()
    with pytest.raises(ConfigError, match=r"training\.init_from: .*first\.safetensors"):
        check_files(recipe)
    check_files(recipe, starts=False)
    train(replace(recipe, training=replace(recipe.training, updates=2)), tmp_path / "run", resume=True, device="cpu")
    stored = load_checkpoint(tmp_path / "run" / "last.safetensors")
    assert stored.metrics["update"] == 2
    assert stored.recipe is not None
    assert stored.recipe["training"]["init_from"] == "first.safetensors"


def test_pieces_that_are_new_are_drawn_around_the_mean_of_the_known_ones() -> None:
    torch.manual_seed(0)
    given = 3.0 + 0.5 * torch.randn(40, 8)  # (W, D)
    drawn = torch.randn(5000, 8) / 8**0.5  # (V, D)
    ids = torch.full((5000,), -1)
    ids[:3] = torch.tensor([7, 39, 0])
    made = embed(ids, given, drawn)
    assert torch.equal(made[:3], given[[7, 39, 0]])
    torch.testing.assert_close(made[3:].mean(dim=0), given.mean(dim=0), atol=0.03, rtol=0)
    torch.testing.assert_close(made[3:].std(dim=0), given.std(dim=0), atol=0.03, rtol=0)
    assert len(made.unique(dim=0)) == 5000


def test_a_vocabulary_finds_all_of_its_own_pieces_in_itself(finished: Path) -> None:
    tokenizer = load_checkpoint(finished / "best.safetensors").tokenizer
    assert ids_in(tokenizer, tokenizer).tolist() == list(range(tokenizer.vocab_size))
