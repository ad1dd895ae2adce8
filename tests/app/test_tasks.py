"""The sentences that a visitor sees first are of the kind that the checkpoint was trained on."""

from dataclasses import asdict

import pytest

from app.library.names_of_languages import is_language
from app.library.tasks import _OF_TOYS, CAPTIONS, EXAMPLES, task_in
from transformer.data.toy_tasks import TOY_TASKS
from transformer.recipe import load_recipe


@pytest.mark.parametrize(
    ("recipe", "names", "examples"),
    [
        ("en-de", ("English", "German", "de"), "en"),
        ("de-en", ("German", "English", "en"), "de"),
        ("multi30k-en-de", ("English", "German", "de"), CAPTIONS),
        ("reverse", ("Letters", "Letters reversed", ""), "reverse"),
    ],
)
def test_examples_are_of_the_kind_that_the_recipe_names(recipe: str, names: tuple[str, ...], examples: str) -> None:
    task = task_in(asdict(load_recipe(recipe)))
    assert (task.source, task.target, task.target_code) == names
    assert task.examples == EXAMPLES[examples]
    assert bool(task.note) == (examples == "en")


@pytest.mark.parametrize("toy", TOY_TASKS)
def test_what_a_toy_task_reads_and_writes_is_named_in_the_language_of_the_visitor(toy: str) -> None:
    data = load_recipe(toy).data
    for name in (data.source_language, data.target_language):
        assert name in _OF_TOYS or is_language(name)


def test_captions_read_the_other_way_are_not_begun_with_english_ones() -> None:
    turned = load_recipe("multi30k-en-de", ["data.source_language=de", "data.target_language=en"])
    assert task_in(asdict(turned)).examples == EXAMPLES["de"]


@pytest.mark.parametrize("recipe", [None, [], {}, {"data": 3}, {"data": {"train": 5, "toy": []}}])
def test_a_recipe_that_is_none_gives_no_examples(recipe: object) -> None:
    assert task_in(recipe).examples == ()
