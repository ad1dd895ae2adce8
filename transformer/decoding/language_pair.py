"""The languages that a model translates between, as its recipe names them."""

from collections.abc import Mapping
from typing import Any

from transformer.decoding.translator import Translator


def languages(translator: Translator) -> tuple[str, str] | None:
    """The codes of the languages that a model reads and writes, if its recipe names both."""
    return languages_of(translator.checkpoint.recipe) if translator.checkpoint else None


def languages_of(recipe: Mapping[str, Any] | None) -> tuple[str, str] | None:
    """The codes of the languages that the recipe of a checkpoint names, if it names both."""
    data = (recipe or {}).get("data")  # not validated as a whole: an imported model has only the languages there
    if not isinstance(data, dict):
        return None
    source, target = data.get("source_language"), data.get("target_language")
    return (source, target) if isinstance(source, str) and isinstance(target, str) and source and target else None
