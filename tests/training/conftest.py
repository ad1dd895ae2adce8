"""A finished run for many tests."""

from pathlib import Path

import pytest

from tests.support.small_training import toy_recipe
from transformer.training import train


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a finished run of the toy recipe."""
    run = tmp_path_factory.mktemp("run") / "toy"
    train(toy_recipe(best_by="loss", snapshots=(0, 5, 7, 99)), run, device="cpu")
    return run
