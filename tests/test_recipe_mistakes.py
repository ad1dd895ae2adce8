"""All mistakes in a recipe are reported at once, in sentences."""

import re
from pathlib import Path

import pytest

from tests.support.recipes import complaint, write
from transformer.data.toy_tasks import TOY_TASKS
from transformer.errors import ConfigError
from transformer.recipe import load_recipe


def test_all_mistakes_are_reported_together_with_their_place_and_the_nearest_name(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        """
        [modle]
        [model]
        d_modl = 512
        heads = 0
        norm = "pots"
        [training]
        updates = "many"
        [data]
        toy = "reverse"
        """,
    )
    message = complaint(path, "decoding.beem=4", "training.warmup=-1", "model.dropout=1.5", "nonsense")
    assert f"{path}: modle is not an option. Did you mean model?" in message
    assert f"{path}: model.d_modl is not an option. Did you mean d_model?" in message
    assert f"{path}: model.heads = 0: should be greater than or equal to 1." in message
    assert f"{path}: model.norm = pots: should be 'post' or 'pre'." in message
    assert f"{path}: training.updates = many: should be a valid integer" in message
    assert "--set: decoding.beem is not an option. Did you mean beam?" in message
    assert "--set: training.warmup = -1: should be greater than or equal to 0." in message
    assert "--set: model.dropout = 1.5: should be less than 1." in message
    assert "--set nonsense: give it as section.key=value" in message
    assert message.count("\n- ") == 9


def test_a_model_without_positions_has_as_many_as_it_translates_too() -> None:
    with pytest.raises(ConfigError, match=r"model\.max_positions = 64 has too few"):
        load_recipe("en-de", ["model.positions=none", "model.max_positions=64"])


@pytest.mark.parametrize(
    ("override", "expected"),
    [
        ("model.heads=7", "d_model 512 cannot be split evenly over 7 heads"),
        ("model.d_model=1000000000", "model.d_model = 1000000000"),
        ("model.dropout=nan", "model.dropout = nan: should be a finite number"),
        ("training.schedule=cosine", "needs a peak_rate"),
        ("data.toy=reverse", "exclude each other"),
        ("data.train=[]", 'name a corpus (train = ["FILE.tsv"])'),
        ("data.max_length=1024", "model.max_positions = 1024 has too few"),
        ("decoding.n_best=5", "cannot come from a beam of 4"),
        ("model.heads=true", "model.heads = True: should be a valid integer"),
        ("training.half=1", "training.half = 1: should be a valid boolean"),
        ("model.dropout='0.1'", "model.dropout = 0.1: should be a valid number"),
        ("decoding.temperature=1e-38", "decoding.temperature = 1e-38: should be greater than or equal to 0.001"),
        ("tokenizer.character_coverage=0.9", "coverage = 0.9: should be greater than or equal to 0.98"),
        ("model=5", "--set: model = 5: should be a section"),
        ("model.heads.x=5", "model.heads"),
        ("model.d-model=256", "model.d-model is not an option. Did you mean d_model?"),
        ("=5", "give it as section.key=value"),
        ("data.toy=revers", f"toy = 'revers' should be one of: {', '.join(TOY_TASKS)}"),
        ("x" * 5000 + "=1", "..."),
    ],
)
def test_impossible_values_are_reported_in_a_sentence(override: str, expected: str) -> None:
    message = complaint("paper-base", override)
    assert expected in message
    assert len(message) < 1500
    assert "Traceback" not in message
    assert not re.search(r"pydantic|ArgsKwargs|Value error|DataclassArgs", message)


@pytest.mark.parametrize(
    ("overrides", "expected"),
    [
        (["data.valid=none", "data.valid_target=my.de"], "valid_target is line-aligned with valid: give valid, too"),
        (["data.valid=hf:a:b:c", "data.valid_target=my.de"], "brings both sides: leave valid_target out"),
        (["decoding.method=greedy", "decoding.n_best=4"], "decoding.n_best is 4: set n_best = 1, or choose beam or"),
    ],
)
def test_contradictory_values_are_reported_in_a_sentence(overrides: list[str], expected: str) -> None:
    assert expected in complaint("paper-base", *overrides)


def test_all_contradictions_are_reported_together_and_those_of_the_command_line_as_such() -> None:
    message = complaint(
        "reverse", "data.toy_min_length=30", "data.tokens_per_batch=1", "training.warmup=0", "training.best_by=bleu",
        "training.validation_sentences=0",
    )  # fmt: skip
    assert "--set: data: toy_min_length is larger than toy_max_length." in message
    assert "--set: data: tokens_per_batch must be at least max_length + 1" in message
    assert "--set: training: the inverse square root schedule needs a warmup" in message
    assert '--set: training: best_by = "bleu" needs validation_sentences above 0.' in message
    assert message.count("\n- ") == 4


def test_a_recipe_that_is_not_there_names_the_nearest() -> None:
    assert "Did you mean paper-base?" in complaint("paper-bsae")
    assert "paper-big" in complaint("recipes/zzz.toml")


def test_a_file_that_is_not_toml_is_reported_with_its_line(tmp_path: Path) -> None:
    assert "line 2" in complaint(write(tmp_path, "[model]\nd_model 512\n"))
    (tmp_path / "picture.toml").write_bytes(b"\x89PNG\xff\xfe")
    assert "is not TOML" in complaint(tmp_path / "picture.toml")


def test_an_argument_that_is_not_utf_8_is_refused_before_it_reaches_a_checkpoint() -> None:
    with pytest.raises(ConfigError, match=r"--set: data\.source_language = \\udcff: not valid Unicode"):
        load_recipe("reverse", ["data.source_language=\udcff"])
    with pytest.raises(ConfigError, match=r"--set: data\.train\.0 = \\udcff\.tsv: not valid Unicode"):
        load_recipe("reverse", ["data.train=\udcff.tsv"])


@pytest.mark.parametrize("value", ["9" * 5000, "[" * 100_000], ids=["digits", "brackets"])
def test_values_that_the_toml_reader_rejects_are_reported_in_a_sentence(value: str, tmp_path: Path) -> None:
    recipe = tmp_path / "mine.toml"
    recipe.write_text(f"name = {value}")
    with pytest.raises(ConfigError, match=r"mine\.toml is not TOML"):
        load_recipe(recipe)
    with pytest.raises(ConfigError, match=r"training\.updates = [9\[]+"):
        load_recipe("reverse", [f"training.updates={value}"])
