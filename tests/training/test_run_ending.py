"""The end of a run: the average and the best single checkpoint are compared on more than each validation translates."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.small_training import corpus_recipe, write_pairs
from transformer.checkpoint.header import read_header
from transformer.config import Recipe
from transformer.data.toy_tasks import toy_pairs
from transformer.model import Transformer
from transformer.training import train, training
from transformer.training.validation import ValidationText


def recipe_of(folder: Path, sentences: int) -> Recipe:
    recipe = corpus_recipe(folder, updates=4, validate_every=2, best_by="bleu", validation_sentences=sentences)
    valid = write_pairs(folder / "valid.tsv", toy_pairs("numbers", 2, 6))
    return replace(recipe, data=replace(recipe.data, valid=str(valid)))


@pytest.mark.parametrize(("average", "best"), [(41.0, 40.0), (40.0, 41.0), (40.0, 40.0)])
def test_average_and_best_are_compared_on_all_sentences(
    average: float, best: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    in_order = iter([60.0, 50.0, average, best])  # two validations, which translate two sentences, and the ending
    asked = []

    def scores(
        model: Transformer, text: ValidationText, recipe: Recipe, update: int, stop: Callable[[], bool]
    ) -> dict[str, float]:
        asked.append(recipe.training.validation_sentences)
        return {"loss": 1.0, "bleu": next(in_order)}

    monkeypatch.setattr(training, "validate", scores)
    chosen = train(recipe_of(tmp_path, sentences=2), tmp_path / "run", device="cpu")
    assert asked == [2, 2, 6, 6]
    assert chosen.stem == ("average" if average >= best else "best")
    stored = {name: read_header(tmp_path / "run" / f"{name}.safetensors").metrics for name in ("average", "best")}
    assert (stored["average"]["valid_bleu"], stored["best"]["valid_bleu"]) == (average, best)
    assert (stored["best"]["update"], stored["average"]["update"]) == (2, 4)
    assert f"bleu of 6 validation sentences: {average} for the average" in " ".join(capsys.readouterr().err.split())


def test_the_best_checkpoint_is_not_scored_again_if_each_validation_translates_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []

    def scores(
        model: Transformer, text: ValidationText, recipe: Recipe, update: int, stop: Callable[[], bool]
    ) -> dict[str, float]:
        asked.append(recipe.training.validation_sentences)
        return {"loss": 1.0, "bleu": 60.0 - len(asked)}

    monkeypatch.setattr(training, "validate", scores)
    assert train(recipe_of(tmp_path, sentences=6), tmp_path / "run", device="cpu").stem == "best"
    assert asked == [6, 6, 6]  # two validations and the average
    assert read_header(tmp_path / "run" / "best.safetensors").metrics["valid_bleu"] == 59.0


def test_a_run_whose_best_checkpoint_is_gone_ends_with_the_average(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scored: list[int] = []

    def scores(
        model: Transformer, text: ValidationText, recipe: Recipe, update: int, stop: Callable[[], bool]
    ) -> dict[str, float]:
        scored.append(update)
        if len(scored) == 3:  # the average
            (tmp_path / "run" / "best.safetensors").unlink()
        return {"loss": 1.0, "bleu": 60.0 - len(scored)}

    monkeypatch.setattr(training, "validate", scores)
    assert train(recipe_of(tmp_path, sentences=2), tmp_path / "run", device="cpu").stem == "average"
    assert len(scored) == 3
