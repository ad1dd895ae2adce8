"""A recipe is read from a file, and its options may be set on the command line."""

import dataclasses
from pathlib import Path

import pytest

from tests.support.recipes import complaint, write
from transformer.config import ModelConfig
from transformer.recipe import bundled, load_recipe, recipe_text, stored_recipe


@pytest.mark.parametrize("name", bundled())
def test_a_recipe_that_is_written_reads_as_the_same_recipe(name: str, tmp_path: Path) -> None:
    recipe = load_recipe(name)
    if recipe.data.train:
        recipe = load_recipe(name, [r'data.train=["a \" \\ ü en-de.tsv"]'])
    (tmp_path / "again.toml").write_text(recipe_text(recipe), encoding="utf-8")
    assert load_recipe(tmp_path / "again.toml") == recipe


def test_what_a_recipe_leaves_out_is_the_default_and_its_name_is_the_files(tmp_path: Path) -> None:
    recipe = load_recipe(write(tmp_path, '[data]\ntoy = "reverse"\n'))
    assert recipe.name == "mine"
    assert recipe.model == ModelConfig(vocab_size=8000)


def test_the_vocabulary_of_the_model_is_that_of_the_tokenizer(tmp_path: Path) -> None:
    path = write(tmp_path, '[tokenizer]\nvocab_size = 300\n[data]\ntoy = "reverse"\n')
    assert load_recipe(path).model.vocab_size == 300
    assert load_recipe(path, ["tokenizer.vocab_size=400"]).model.vocab_size == 400
    assert "Leave the first one out" in complaint(path, "model.vocab_size=301")


@pytest.mark.parametrize(
    ("override", "expected"),
    [
        ("data.train=my.tsv", ("my.tsv",)),
        ('data.train="my.tsv"', ("my.tsv",)),
        ("data.train=[a.tsv, b.tsv]", ("a.tsv", "b.tsv")),
        ('data.train=["a.tsv", "b.tsv"]', ("a.tsv", "b.tsv")),
        ("data.train = /some where/2024-01-01.tsv", ("/some where/2024-01-01.tsv",)),
        ("data.train=2024-01-01", ("2024-01-01",)),
        ("data.train=C=D.tsv", ("C=D.tsv",)),
    ],
)
def test_a_path_on_the_command_line_needs_no_quotes_and_no_brackets(override: str, expected: tuple[str, ...]) -> None:
    languages = ["data.source_language=en", "data.target_language=de"]
    assert load_recipe("paper-base", [override, *languages]).data.train == expected


def test_values_on_the_command_line_become_what_the_option_is() -> None:
    given = [
        "training.peak_rate=1e-3",
        "training.updates=50_000",
        "training.half=True",
        "training.cooldown=.3",
        "model.positions=none",
        "model.attention_window=3",
        "data.valid=none",
        "name=my run",
    ]
    recipe = load_recipe("paper-base", given)
    assert (recipe.training.peak_rate, recipe.training.updates, recipe.training.half) == (0.001, 50_000, True)
    assert (recipe.training.cooldown, recipe.model.positions, recipe.model.attention_window) == (0.3, "none", 3)
    assert (recipe.data.valid, recipe.name) == (None, "my run")
    assert load_recipe("paper-base", ["model.attention_window=none"]).model.attention_window is None


@pytest.mark.parametrize("text", ["'a' 'b'", "u'a'", "(5)", "- 5", "5_0_", "2020-01-01", "{a = 1}", "None"])
def test_a_text_that_is_not_a_toml_value_is_a_string(text: str) -> None:
    assert load_recipe("paper-base", [f"name={text}"]).name == text


@pytest.mark.parametrize(("text", "value"), [(".3", 0.3), ("+.3E-1", 0.03), ("0.", 0.0), ("00.3", None), ("٠.", None)])
def test_a_number_may_begin_or_end_with_its_point(text: str, value: float | None) -> None:
    if value is None:
        assert "should be a valid number" in complaint("paper-base", f"training.cooldown={text}")
    else:
        assert load_recipe("paper-base", [f"training.cooldown={text}"]).training.cooldown == value


def test_the_last_override_wins() -> None:
    assert load_recipe("paper-base", ["training.seed=1", "training.seed=2"]).training.seed == 2


def test_a_stored_recipe_of_before_snapshots_had_their_name_is_read() -> None:
    stored = dataclasses.asdict(load_recipe("reverse"))
    assert stored_recipe(stored) == load_recipe("reverse")
    stored["training"]["ladder"] = stored["training"].pop("snapshots")
    assert stored_recipe(stored) == load_recipe("reverse")
    assert stored_recipe(stored | {"unknown": 1}) is None
    assert stored_recipe(None) is None
