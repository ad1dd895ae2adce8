"""Recipes: one commented TOML file describes a training run, and is the manual of its options.

    [model]  [tokenizer]  [data]  [training]  [decoding]        the classes of `transformer.config`, key for key

Any value can be overridden as `section.key=value`. All problems are reported together, each with its place and the
nearest valid name, before anything is read or allocated. Relative paths in a recipe are relative to the current folder,
as everywhere on the command line, not to the folder of the recipe.
"""

import json
import logging
import re
import tomllib
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from types import NoneType
from typing import Any, get_args, get_origin, get_type_hints

from transformer.config import Recipe, TokenizerConfig
from transformer.errors import ConfigError
from transformer.files.bundled_toml import RECIPES, bundled_in, find_file, read_toml
from transformer.files.strict_json import check_unicode
from transformer.files.untrusted_values import shown, validate
from transformer.fit_to_corpus import FIT
from transformer.recipe_completion import (
    Ask,
    choose_epochs_or_updates,
    complete_fitted_values,
    complete_languages,
    forget_languages_of_other_text,
    name_after_text,
)

log = logging.getLogger(__name__)

RECIPE = "recipe.toml"  # in the folder of a run
Values = dict[str, Any]


def bundled() -> dict[str, Path]:
    """The bundled recipes, by name."""
    return bundled_in(RECIPES)


def load_recipe(
    path_or_name: str | Path,
    overrides: Sequence[str] = (),
    ask: Ask | None = None,
) -> Recipe:
    """Reads a recipe.

    Args:
        path_or_name: a TOML file, or the name of a bundled recipe: `reverse`.
        overrides: `section.key=value`, the value as in TOML, but quotes and brackets may be left out.
        ask: puts a question to the user and returns the answer; without it, a language that is missing is a problem.

    `model.vocab_size` may be left out: it is then `tokenizer.vocab_size`, and the trainer corrects it to the number of
    tokens that the tokenizer really has. The languages of a corpus may be left out if the names of its files say them.
    Options with the value "fit" get a value that suits the text (fit_to_corpus.py) or the checkpoint to start with; it
    is logged with its reason.

    Raises:
        ConfigError: the message lists everything that is wrong.
        CorpusError: a value is "fit", and the text cannot be read.
        CheckpointError: a value is "fit", and the checkpoint to start with cannot be read.
    """
    path = find_file(path_or_name, bundled(), "recipe")
    values: Values = read_toml(path, "recipe")
    values.setdefault("name", path.stem)
    for section in ("model", "tokenizer", "data"):
        values.setdefault(section, {})
    problems: list[str] = []
    own_data = dict(values["data"]) if isinstance(values["data"], dict) else {}
    overridden = [_override(values, override, problems) for override in overrides]
    _normalise(values)
    name_after_text(values)
    forget_languages_of_other_text(values, own_data, overridden)
    problems += complete_languages(values, ask)
    problems += choose_epochs_or_updates(values, overridden)
    fitted = complete_fitted_values(values)
    _leave_vocabulary_to_the_tokenizer(values, problems)
    try:
        check_unicode(values)  # a file name or an argument may hold any bytes
        recipe, wrong = validate(Recipe, values)
    except ValueError as error:
        recipe, wrong = None, [f"{error}."]
    problems += [f"{_origin(problem, overridden, path)}: {problem}" for problem in wrong]
    if recipe is not None:
        problems += _contradictions(recipe)
    if problems or recipe is None:
        raise ConfigError("\n".join(["This recipe is invalid:", *(f"- {problem}" for problem in problems)]))
    for text in fitted:
        log.info("%s", text)
    return recipe


def stored_recipe(values: Values | None) -> Recipe | None:
    """The recipe in a checkpoint or in the state of a run; None if it cannot be read.

    Files that were written before `training.snapshots` had this name call it `training.ladder`.
    """
    training = (values or {}).get("training")
    if values and isinstance(training, dict) and "ladder" in training:
        renamed = {"snapshots" if option == "ladder" else option: value for option, value in training.items()}
        values = values | {"training": renamed}
    return validate(Recipe, values)[0]


def recipe_text(recipe: Recipe) -> str:
    """A recipe as TOML with every option, from which `load_recipe` reads the same recipe again."""
    values = asdict(recipe)
    if recipe.training.epochs is not None:
        del values["training"]["updates"]
    lines = [f"name = {_written(values.pop('name'))}"]
    for section, options in values.items():
        lines += ["", f"[{section}]", *(f"{option} = {_written(value)}" for option, value in options.items())]
    return "\n".join(lines) + "\n"


def _written(value: object) -> str:
    """A value in TOML, where most values are written as in JSON; None is "none", a table is written inline."""
    if isinstance(value, dict):
        inside = (f"{name} = {_written(one)}" for name, one in value.items() if one is not None)
        return f"{{ {', '.join(inside)} }}"
    if isinstance(value, list | tuple) and any(isinstance(one, dict) for one in value):
        return "[\n" + "".join(f"    {_written(one)},\n" for one in value) + "]"
    return json.dumps("none" if value is None else value, ensure_ascii=False)


def _override(values: Values, override: str, problems: list[str]) -> str:
    """Puts one `section.key=value` into `values`; returns `section.key`."""
    name, equals, text = override.partition("=")
    name = name.strip()
    if not equals or not name:
        problems.append(f"--set {shown(override)}: give it as section.key=value, for example training.updates=1000.")
        return ""
    *sections, key = name.split(".")
    for section in sections:
        if not isinstance(values.get(section), dict):
            values[section] = {}
        values = values[section]
    values[key] = _value(text.strip())
    return name


def _value(text: str) -> Any:
    """A value in TOML, or in other common notations: `my.tsv`, `[a.tsv, b.tsv]`, `True`, `.3`, `5.`. Anything else is
    text."""
    try:
        value = tomllib.loads(f"value = {text}")["value"]
    except (ValueError, RecursionError):  # not TOML, or a number of 5,000 digits, or too many brackets
        if text.startswith("[") and text.endswith("]"):
            return [part.strip().strip("\"'") for part in text[1:-1].split(",") if part.strip()]
        if text in ("True", "False"):
            return text == "True"
        return float(text) if re.fullmatch(r"[+-]?(\d+\.|\.\d+)(e[+-]?\d+)?", text, re.ASCII | re.IGNORECASE) else text
    return value if isinstance(value, bool | int | float | str | list) else text  # a date in TOML stays text


def _normalise(values: Values) -> None:
    """Accepts a single file where a list is expected, and "none" where None is allowed, because TOML has no null."""
    for section, kind in get_type_hints(Recipe).items():
        options = values.get(section)
        if isinstance(options, dict):
            for option, hint in get_type_hints(kind).items():
                value = options.get(option)
                if get_origin(hint) is tuple and isinstance(value, str) and (section == "data" or value != FIT):
                    options[option] = [value] if value else []
                if NoneType in get_args(hint) and options.get(option) in ("none", ""):
                    options[option] = None


def _leave_vocabulary_to_the_tokenizer(values: Values, problems: list[str]) -> None:
    model, tokenizer = values["model"], values["tokenizer"]
    if not isinstance(model, dict) or not isinstance(tokenizer, dict):
        return  # the validation reports it
    wanted = tokenizer.get("vocab_size", TokenizerConfig.vocab_size)
    stated = model.setdefault("vocab_size", wanted if type(wanted) is int and wanted >= 5 else 5)
    if "vocab_size" in tokenizer and stated != wanted and type(wanted) is int and wanted >= 5:
        problems.append(
            f"model.vocab_size = {shown(stated)} contradicts tokenizer.vocab_size = {wanted}. Leave the first one out."
        )


def _origin(problem: str, overridden: list[str], path: Path) -> str:
    """Where a problem comes from: the command line or the file. A problem begins with the name of its option."""
    name = problem.split(" ", 1)[0].rstrip(":")
    given = any(option and (name == option or name.startswith(f"{option}.")) for option in overridden)
    words = set(re.findall(r"\w+", problem))  # of a contradiction within a section: it names the options
    contradicts = any(option.startswith(f"{name}.") and option.split(".")[-1] in words for option in overridden)
    return "--set" if given or contradicts else str(path)


def _contradictions(recipe: Recipe) -> list[str]:
    """Problems between two options, each of which is valid by itself."""
    problems = []
    if recipe.data.max_length >= recipe.model.max_positions:
        problems.append(
            f"data.max_length = {recipe.data.max_length} tokens and </s> need a position each; "
            f"model.max_positions = {recipe.model.max_positions} has too few. Lower the first or raise the second."
        )
    if recipe.training.own_vocabulary and recipe.training.init_from is None:
        problems.append(
            "training.own_vocabulary is for a run that starts with the weights of a checkpoint: add training.init_from "
            "(--init-from CHECKPOINT), or leave training.own_vocabulary out."
        )
    return problems
