"""What the command `evaluate` scores a model on: files, a Hugging Face data set, or pairs of the model's toy task."""

from dataclasses import dataclass
from pathlib import Path

import typer

from transformer.data.corpus import Pair, read_rows, usable_pairs
from transformer.data.data_options import DataConfig
from transformer.data.pair_sources import toy_test_pairs
from transformer.data.parts import texts_of
from transformer.decoding.language_pair import languages
from transformer.decoding.translator import Translator


@dataclass(frozen=True)
class ScoredText:
    """A test set: all its rows, and those with two sides."""

    rows: list[Pair]
    pairs: list[Pair]


def read_scored_text(
    translator: Translator,
    data: str | None,
    target: Path | None,
    columns: tuple[int, int],
    named: tuple[str | None, str | None],
) -> ScoredText:
    """Reads a test set in the same way as text for training.

    Args:
        data: None for a model of a toy task.
        target: the translations of `data`, if they are in another file.
        named: source and target language (or column) of a Hugging Face data set; None: the recipe's.

    Raises:
        CorpusError: it cannot be read.
        BadParameter: there is no `data`, and the model has no toy task.
    """
    if data is None:
        config = recipe_data(translator)
        if config is None or config.toy is None:
            raise typer.BadParameter("give one of --data and --required-words: this model has no toy task.")
        pairs = toy_test_pairs(config)
        return ScoredText(pairs, pairs)
    source_language, target_language = (
        given or known for given, known in zip(named, languages(translator) or ("en", "de"), strict=True)
    )
    reading = DataConfig(
        train=(data,),
        source_column=columns[0],
        target_column=columns[1],
        source_language=source_language,
        target_language=target_language,
    )
    (text,) = texts_of(reading, (data,), (str(target),) if target else ())
    rows = read_rows(text)
    return ScoredText(rows, usable_pairs(text, rows))


def recipe_data(translator: Translator) -> DataConfig | None:
    """The [data] of the recipe that a model was trained by, if its checkpoint has one."""
    from transformer.recipe import stored_recipe

    recipe = stored_recipe(translator.checkpoint.recipe) if translator.checkpoint else None
    return recipe.data if recipe else None
