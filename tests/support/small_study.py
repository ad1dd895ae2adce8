"""A queue of toy tasks, small enough to be trained in a test."""

from pathlib import Path

from tests.support.small_training import toy_recipe, write_pairs
from transformer.data.toy_tasks import Bounds, toy_pairs
from transformer.recipe import recipe_text

SMALL = """
recipe = "RECIPE"
scored_on = "scored.tsv"
members = [
    { name = "base", seeds = [1, 2] },
    { name = "no-mask", set = ["model.causal_training=false"], lesson = "What it saw, it copies." },
]
families = [{ name = "mask", option = "model.causal_training", members = ["base", "no-mask"] }]
"""


def write_queue(folder: Path, text: str = SMALL) -> Path:
    """A queue of toys that are trained in a second, and the text that they are scored on."""
    (folder / "toy.toml").write_text(recipe_text(toy_recipe(updates=6, best_by="loss")), encoding="utf-8")
    write_pairs(folder / "scored.tsv", toy_pairs("reverse", 7, 5, Bounds(symbols=4, max_length=5)))
    path = folder / "small.toml"
    path.write_text(text.replace("RECIPE", str(folder / "toy.toml")), encoding="utf-8")
    return path
