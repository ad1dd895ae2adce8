"""Reads the TOML file of a queue of trainings, and reports everything that is wrong with it."""

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from itertools import zip_longest
from pathlib import Path
from typing import Annotated

from pydantic import Field
from pydantic.dataclasses import dataclass as checked

from transformer.config import Recipe
from transformer.data.data_options import DataConfig
from transformer.data.hugging_face_address import is_data_set
from transformer.errors import ConfigError
from transformer.files.bundled_toml import bundled_in, find_file, read_toml
from transformer.files.untrusted_values import STRICT, nearest, validate
from transformer.recipe import load_recipe
from transformer.studies.training_queue import Family, Member, Queue, Training

BUNDLED = Path(__file__).parent


@checked(frozen=True, config=STRICT, kw_only=True)
class QueueFile:
    """The content of the TOML file of a queue."""

    recipe: str  # the base: a recipe file, or the name of a bundled one
    scored_on: str | None = None  # the text on which finished models are scored; None: pairs that the toy task draws
    prefix: str = "family"  # of the files of members that ship: PREFIX-NAME.safetensors
    about: str = ""  # a few sentences in Markdown: they begin the card
    facts: dict[str, str] = field(default_factory=dict)  # rows of every member's card: data, licence
    members: Annotated[tuple[Member, ...], Field(min_length=1)]
    families: tuple[Family, ...]


def load_queue(path_or_name: str | Path, data: Path | None = None) -> Queue:
    """Reads a queue.

    Args:
        path_or_name: a TOML file, or the name of a bundled queue: `families`, `toy-families`.
        data: the folder from which the relative paths of texts are taken; None: the current one.

    Raises:
        ConfigError: the message lists everything that is wrong.
    """
    path = find_file(path_or_name, bundled_in(BUNDLED), "queue")
    stated = _parsed(path)
    recipes, problems = _recipes(stated, data)
    problems = [*_repetitions(stated), *problems, *_unknown_options(stated.families, recipes)]
    if stated.scored_on is None and any(recipe.data.toy is None for recipe in recipes.values()):
        problems.append("scored_on, the text on which models are scored, is missing. Only toy tasks draw their pairs.")
    if problems:
        raise _refusal(path, problems)
    scored_on = None if stated.scored_on is None else _under(stated.scored_on, data)
    rounds = zip_longest(*(member.seeds for member in stated.members))  # the first seeds, then the second ones
    trainings = [
        _training(recipes[member.name], member.name, seed, scored_on)
        for seeds in rounds
        for member, seed in zip(stated.members, seeds, strict=True)
        if seed is not None
    ]
    return Queue(
        name=path.stem,
        about=stated.about,
        scored_on=scored_on,
        prefix=stated.prefix,
        trainings=tuple(trainings),
        recipes=recipes,
        families=stated.families,
        changes={member.name: member.set for member in stated.members},
        lessons={member.name: member.lesson for member in stated.members if member.lesson},
        facts=stated.facts,
    )


def _parsed(path: Path) -> QueueFile:
    """What a file states."""
    stated, problems = validate(QueueFile, read_toml(path, "queue"))
    if stated is None:
        raise _refusal(path, problems)
    return stated


def _repetitions(stated: QueueFile) -> list[str]:
    """Names and seeds that occur twice, and members that do not exist."""
    names = [member.name for member in stated.members]
    problems = [f"The member {name} occurs twice." for name in sorted(set(names)) if names.count(name) > 1]
    twice = [member.name for member in stated.members if len(set(member.seeds)) < len(member.seeds)]
    problems += [f"The member {name} has a seed twice. Remove one of them." for name in twice]
    for family in stated.families:
        if len(set(family.members)) < len(family.members):
            problems.append(f"The family {family.name} has a member twice. Remove one of them.")
        unknown = [name for name in family.members if name not in names]
        problems += [f"The family {family.name} has a member {name}. {nearest(name, names)}" for name in unknown]
    return problems


def _recipes(stated: QueueFile, data: Path | None) -> tuple[dict[str, Recipe], list[str]]:
    """The recipe of each member, and what is wrong with the others."""
    recipes: dict[str, Recipe] = {}
    problems = []
    for member in stated.members:
        try:
            recipe = load_recipe(stated.recipe, member.set)
            recipes[member.name] = replace(recipe, data=_placed(recipe.data, data))
        except ConfigError as error:
            problems.append(f"The member {member.name}: {error}")
    return recipes, problems


def _unknown_options(families: Sequence[Family], recipes: Mapping[str, Recipe]) -> list[str]:
    """Families that compare an option that recipes do not have."""
    any_recipe = next(iter(recipes.values()), None)
    if any_recipe is None:
        return []

    def is_known(option: str) -> bool:
        section, _, name = option.partition(".")
        return hasattr(getattr(any_recipe, section, None), name)

    return [
        f"The family {family.name} compares {family.option}, which is not an option of a recipe."
        for family in families
        if family.option and not is_known(family.option)
    ]


def _training(recipe: Recipe, member: str, seed: int, scored_on: Path | None) -> Training:
    seeded = replace(recipe, name=f"{member}-seed{seed}", training=replace(recipe.training, seed=seed))
    return Training(member, seeded, f"toy:{recipe.data.toy}" if scored_on is None else scored_on.name)


def _placed(config: DataConfig, data: Path | None) -> DataConfig:
    """The same text, with relative paths taken from the folder `data`."""

    def placed(name: str) -> str:
        return name if is_data_set(name) else str(_under(name, data))

    if data is None:
        return config
    valid, valid_target = (None if name is None else placed(name) for name in (config.valid, config.valid_target))
    train, target = (tuple(placed(name) for name in names) for names in (config.train, config.train_target))
    folder = str(_under(config.folder or "", data)) if config.mix else config.folder
    return replace(config, train=train, train_target=target, valid=valid, valid_target=valid_target, folder=folder)


def _under(name: str, data: Path | None) -> Path:
    return Path(name) if data is None else data / name  # an absolute path stays the same


def _refusal(path: Path, problems: list[str]) -> ConfigError:
    return ConfigError("\n".join([f"The queue {path} cannot be used:", *(f"- {problem}" for problem in problems)]))
