"""The files that a recipe names: those that are missing are reported, and a checkpoint stores their names only."""

from dataclasses import replace
from pathlib import Path

import pytest

from transformer.data.data_options import DataConfig
from transformer.data.mix_options import MixPart
from transformer.errors import ConfigError
from transformer.recipe import load_recipe
from transformer.recipe_files import check_files, recipe_for_checkpoint


def test_a_checkpoint_stores_names_of_files_without_the_folders_of_the_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    outside = tmp_path.parent / "elsewhere"
    files = [
        "hf:wmt14:de-en:train",
        f"hf:{outside / 'json'}::train",
        "texts/a.tsv",
        str(tmp_path / "texts" / "b.tsv"),
        str(outside / "c.tsv"),
    ]
    recipe = load_recipe("paper-base", ["data.train=a.en-de.tsv", f"data.valid={outside / 'v.tsv'}"])
    recipe = replace(recipe, data=replace(recipe.data, train=tuple(files), prepared=str(outside)))
    stored = recipe_for_checkpoint(recipe)["data"]
    assert stored["train"] == ("hf:wmt14:de-en:train", "hf:json::train", "texts/a.tsv", "texts/b.tsv", "c.tsv")
    assert (stored["valid"], stored["prepared"]) == ("v.tsv", None)

    parts = tuple(MixPart(file=file) for file in (str(outside / "more" / "a.tsv"), "b.tsv", files[-2]))
    mixed = replace(recipe, data=DataConfig(mix=parts, folder=str(outside)))
    stored = recipe_for_checkpoint(mixed)["data"]
    assert [part["file"] for part in stored["mix"]] == ["more/a.tsv", "b.tsv", "texts/b.tsv"]
    assert stored["folder"] is None
    assert recipe.data.train == tuple(files)  # unchanged: a run reads them again


def test_missing_files_are_reported_together_with_the_folder_they_are_relative_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "here.en-de.tsv").write_text("a\tb\n")
    recipe = load_recipe("paper-base", ["data.train=[here.en-de.tsv, there.en-de.tsv]", "tokenizer.model=my.model"])
    with pytest.raises(ConfigError) as caught:
        check_files(recipe)
    message = str(caught.value)
    assert "data.train: there.en-de.tsv" in message
    assert "data.valid: newstest2013.en-de.tsv" in message
    assert "tokenizer.model: my.model" in message
    assert "- data.train: here.en-de.tsv" not in message
    assert str(tmp_path) in message
    check_files(load_recipe("paper-base", ["data.train=here.en-de.tsv", "data.valid=none"]))
    with pytest.raises(ConfigError) as caught:
        check_files(recipe, "python -m transformer train --resume runs/mine")
    assert str(caught.value).endswith(
        "If they have moved, the run goes on with the same text from there: python -m transformer train --resume "
        "runs/mine --set 'data.train=[here.en-de.tsv, NEW/there.en-de.tsv]' "
        "--set data.valid=NEW/newstest2013.en-de.tsv --set tokenizer.model=NEW/my.model"
    )
