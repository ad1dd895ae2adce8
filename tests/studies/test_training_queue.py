"""A queue names models that differ in one thing each, and the text on which they are scored."""

from pathlib import Path

import pytest

from tests.support.small_study import SMALL, write_queue
from transformer.data.pair_sources import toy_test_pairs
from transformer.data.toy_tasks import is_held_out
from transformer.errors import ConfigError
from transformer.recipe import load_recipe
from transformer.studies.queue_file import load_queue
from transformer.studies.training_queue import value_of


def test_the_families_differ_from_their_base_in_what_they_are_named_for_and_in_nothing_else() -> None:
    queue = load_queue("families")
    base = load_recipe("family")
    assert queue.recipes["base"] == base
    for family in queue.families:
        values = [value_of(queue.recipes[name], family.option) for name in family.members]
        assert len(set(values)) == len(values)
        for name in family.members:
            odd = {
                f"{section}.{key}"
                for section in ("model", "tokenizer", "data", "training", "decoding")
                for key, value in vars(getattr(queue.recipes[name], section)).items()
                if value != getattr(getattr(base, section), key) and not key.startswith("__")
            }
            alike = {"model.encoder_layers": "model.decoder_layers", "model.dropout": "model.embedding_dropout"}
            allowed = {family.option, alike.get(family.option, family.option)}
            assert odd in (set(), allowed), name
    seeds = [training.seed for training in queue.trainings]
    assert seeds == sorted(seeds)  # everything once before anything twice
    assert [training.member for training in queue.trainings][:2] == ["base", "heads-1"]


def test_the_toy_families_need_no_text_and_are_scored_on_pairs_of_no_training() -> None:
    queue = load_queue("toy-families")
    assert queue.scored_on is None
    assert queue.text == "toy:reverse"
    recipe = queue.recipes["base"]
    scored = {source for source, _ in toy_test_pairs(recipe.data)}
    assert all(is_held_out(source) for source in scored)
    assert len(scored) > 900
    for family in queue.families:
        assert len(family.members) >= 3 or family.name in ("norm", "causal-mask")  # these are in "one-part", too
        assert all({t.seed for t in queue.trainings if t.member == name} == {1, 2, 3} for name in family.members)


def test_without_a_text_only_toy_tasks_can_be_scored(tmp_path: Path) -> None:
    (tmp_path / "q.toml").write_text('recipe = "family"\nmembers = [{ name = "a" }]\nfamilies = []\n', encoding="utf-8")
    with pytest.raises(ConfigError, match="scored_on, the text on which models are scored, is missing"):
        load_queue(tmp_path / "q.toml")


def test_texts_are_read_from_the_given_folder(tmp_path: Path) -> None:
    queue = load_queue("families", tmp_path)
    assert queue.scored_on == tmp_path / "tatoeba-en-de" / "valid.tsv.gz"
    for training in queue.trainings:
        assert training.recipe.data.train == (str(tmp_path / "tatoeba-en-de" / "train.tsv.gz"),)
        assert training.recipe.data.valid == str(tmp_path / "tatoeba-en-de" / "valid.tsv.gz")


def test_the_files_of_a_mix_are_read_from_the_given_folder(tmp_path: Path) -> None:
    members = 'recipe = "de-en"\nscored_on = "test.tsv"\nmembers = [{ name = "a" }]\nfamilies = []\n'
    (tmp_path / "q.toml").write_text(members, encoding="utf-8")
    data = load_queue(tmp_path / "q.toml", tmp_path / "texts").trainings[0].recipe.data
    assert data.path_of(data.mix[0].file) == tmp_path / "texts" / data.mix[0].file


def test_all_mistakes_of_a_queue_are_reported_together(tmp_path: Path) -> None:
    text = SMALL.replace('"model.causal_training=false"', '"model.head=3", "training.updates=x"')
    text = text.replace('["base", "no-mask"]', '["bas", "no-mask"]').replace(", seeds = [1, 2]", "")
    with pytest.raises(ConfigError) as caught:
        load_queue(write_queue(tmp_path, text))
    message = str(caught.value)
    assert "small.toml cannot be used" in message
    assert "model.head is not an option" in message
    assert "training.updates" in message
    assert "has a member bas. Did you mean base?" in message
    for wrong, replacement, message in [
        ('option = "model.causal_training"', 'option = "model.mask"', "compares model.mask, which is not an option"),
        ("scored_on", "scored", "scored is not an option"),
        ('"base"', '"../base"', r"members\.0\.name"),
        ('"no-mask"', '"base"', "The member base occurs twice"),
        ("seeds = [1, 2]", "seeds = [1, 1]", "has a seed twice"),
        ('["base", "no-mask"]', '["base", "no-mask", "base"]', "has a member twice"),
        ("seeds = [1, 2]", "sed = [1]", r"members\.0\.sed is not an option\. Did you mean seeds\?"),
        ("option = ", 'optoin = "x", option = ', r"families\.0\.optoin is not an option\. Did you mean option\?"),
    ]:
        with pytest.raises(ConfigError, match=message):
            load_queue(write_queue(tmp_path, SMALL.replace(wrong, replacement)))
    with pytest.raises(ConfigError, match="Did you mean families"):
        load_queue("familys")
