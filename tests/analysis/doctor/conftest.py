"""Models for the doctor."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.findings import PRETRAINED
from tests.support.small_training import MODEL, toy_recipe
from transformer.decoding.translator import Translator
from transformer.training import train


@pytest.fixture
def reverse() -> Translator:
    """A healthy model of one's own, to be made ill."""
    return Translator.load(PRETRAINED / "reverse.safetensors")


@pytest.fixture(scope="package")
def toy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run that learnt four letters, up to five in a row, and learnt its positions."""
    folder = tmp_path_factory.mktemp("runs") / "toy"
    recipe = toy_recipe(best_by="loss")
    train(replace(recipe, model=replace(MODEL, positions="learned")), folder, device="cpu")
    return folder
