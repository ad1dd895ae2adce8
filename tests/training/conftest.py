"""A finished run and a stopped one for many tests."""

from pathlib import Path

import pytest

from tests.support.small_training import corpus_recipe, stop_after, toy_recipe
from transformer.config import Recipe
from transformer.errors import TrainingError
from transformer.training import train

Runs = tuple[Recipe, Path]  # a recipe, and the folder of its run


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a finished run of the toy recipe."""
    run = tmp_path_factory.mktemp("run") / "toy"
    train(toy_recipe(best_by="loss", snapshots=(0, 5, 7, 99)), run, device="cpu")
    return run


@pytest.fixture
def stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Runs:
    """A run on a corpus, stopped in the middle."""
    recipe = corpus_recipe(tmp_path, updates=6)
    stop_after(2, monkeypatch)
    with pytest.raises(TrainingError):
        train(recipe, tmp_path / "run", device="cpu")
    monkeypatch.undo()
    return recipe, tmp_path / "run"
