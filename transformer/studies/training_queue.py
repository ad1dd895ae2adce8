"""A queue of trainings that differ in one option each: its members, and the order in which they are trained.

One TOML file (see `families.toml` in this folder) names the base recipe, the members (the options that differ, and
seeds), and the families in which they are compared. A member may be in several families and is trained once. Members
are trained in their order in the file, first all of them with their first seed, then with their second, so that a queue
that is stopped early has compared everything once.
"""

import tomllib
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from pathlib import Path
from typing import Annotated

from pydantic import Field, StrictInt
from pydantic.dataclasses import dataclass as checked

from transformer.config import Recipe
from transformer.data.data_options import DataConfig
from transformer.data.mix_options import STRICT
from transformer.errors import ConfigError
from transformer.files.untrusted_values import nearest, validate
from transformer.recipe import load_recipe

BUNDLED = Path(__file__).parent
Name = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,59}$")]
Seed = Annotated[StrictInt, Field(ge=0, lt=2**32)]


@checked(frozen=True, config=STRICT, kw_only=True)
class Member:
    """One model: the options that differ from the base recipe. It is trained once with each seed."""

    name: Name
    set: tuple[str, ...] = ()  # "section.key=value", as on the command line
    seeds: Annotated[tuple[Seed, ...], Field(min_length=1)] = (1,)
    lesson: str = ""  # what this model shows, in Markdown; a member with a lesson ships (ship_members.py)


@checked(frozen=True, config=STRICT, kw_only=True)
class Family:
    """Members that are compared with each other, in the order in which tables and plots show them."""

    name: Name
    option: str = ""  # "section.key", in which they differ; "" if each differs in another option, which its name says
    members: Annotated[tuple[str, ...], Field(min_length=2)]


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


@dataclass(frozen=True)
class Training:
    """One run of the queue: a member with one of its seeds."""

    member: str
    recipe: Recipe  # with the seed, and named like the folder
    scored_on: str  # the name of the text's file, without its folder, or "toy:" and the task

    @property
    def seed(self) -> int:
        """The seed of its recipe."""
        return self.recipe.training.seed

    @property
    def folder(self) -> str:
        """The folder of its run, inside the folder of all runs: "heads-1-seed1"."""
        return self.recipe.name


@dataclass(frozen=True)
class Queue:
    """A queue whose recipes have all been read."""

    name: str
    about: str
    scored_on: Path | None  # None: pairs that the toy task draws
    prefix: str
    trainings: tuple[Training, ...]  # in the order in which they are trained
    recipes: dict[str, Recipe]  # of each member, by name
    families: tuple[Family, ...]
    changes: dict[str, tuple[str, ...]]  # the options of each member that differ from the base recipe
    lessons: dict[str, str]  # of the members that ship
    facts: dict[str, str]

    @property
    def text(self) -> str:
        """The text on which models are scored, as FOLDER/FILE, or the toy task."""
        return self.trainings[0].scored_on if self.scored_on is None else "/".join(self.scored_on.parts[-2:])

    @property
    def is_toy(self) -> bool:
        """Whether a toy task draws the pairs that models are scored on. The measure is then the exact matches."""
        return self.scored_on is None


def load_queue(path_or_name: str | Path, data: Path | None = None) -> Queue:
    """Reads a queue.

    Args:
        path_or_name: a TOML file, or the name of a bundled queue: `families`, `toy-families`.
        data: the folder from which the relative paths of texts are taken; None: the current one.

    Raises:
        ConfigError: the message lists everything that is wrong.
    """
    path = _find(Path(path_or_name))
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise ConfigError(f"The queue {path} cannot be read: {error.strerror or error}.") from error
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"The queue {path} is not TOML: {error}.") from error
    stated, problems = validate(QueueFile, values)
    if stated is None:
        raise _refusal(path, problems)
    names = [member.name for member in stated.members]
    problems += [f"The member {name} occurs twice." for name in sorted(set(names)) if names.count(name) > 1]
    twice = [member.name for member in stated.members if len(set(member.seeds)) < len(member.seeds)]
    problems += [f"The member {name} has a seed twice. Remove one of them." for name in twice]
    for family in stated.families:
        if len(set(family.members)) < len(family.members):
            problems.append(f"The family {family.name} has a member twice. Remove one of them.")
        unknown = [name for name in family.members if name not in names]
        problems += [f"The family {family.name} has a member {name}. {nearest(name, names)}" for name in unknown]
    recipes: dict[str, Recipe] = {}
    for member in stated.members:
        try:
            recipe = load_recipe(stated.recipe, member.set)
            recipes[member.name] = replace(recipe, data=_placed(recipe.data, data))
        except ConfigError as error:
            problems.append(f"The member {member.name}: {error}")
    for family in stated.families:
        problems += [
            f"The family {family.name} compares {family.option}, which is not an option of a recipe."
            for recipe in list(recipes.values())[:1]
            if family.option
            and not hasattr(getattr(recipe, family.option.partition(".")[0], None), family.option.partition(".")[2])
        ]
    if stated.scored_on is None and any(recipe.data.toy is None for recipe in recipes.values()):
        problems.append("scored_on, the text on which models are scored, is missing. Only toy tasks draw their pairs.")
    if problems:
        raise _refusal(path, problems)
    rounds = zip_longest(*([(member.name, seed) for seed in member.seeds] for member in stated.members))
    scored_on = None if stated.scored_on is None else _under(stated.scored_on, data)
    trainings = [
        _training(recipes[entry[0]], entry[0], entry[1], scored_on)
        for one in rounds
        for entry in one
        if entry is not None
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


def value_in(queue: Queue, member: str, option: str) -> str | int | float | bool | None:
    """The value of a family's option for a member; the member's name if the family varies several options."""
    return value_of(queue.recipes[member], option) if option else member


def value_of(recipe: Recipe, option: str) -> str | int | float | bool | None:
    """The value of "section.key" in a recipe."""
    section, _, key = option.partition(".")
    value: str | int | float | bool | None = getattr(getattr(recipe, section), key)
    return value


def _training(recipe: Recipe, member: str, seed: int, scored_on: Path | None) -> Training:
    seeded = replace(recipe, name=f"{member}-seed{seed}", training=replace(recipe.training, seed=seed))
    return Training(member, seeded, f"toy:{recipe.data.toy}" if scored_on is None else scored_on.name)


def _placed(config: DataConfig, data: Path | None) -> DataConfig:
    """The same text, with relative paths taken from the folder `data`."""
    if data is None:
        return config

    def placed(name: str) -> str:
        return name if name.startswith("hf:") else str(_under(name, data))

    valid, valid_target = (None if name is None else placed(name) for name in (config.valid, config.valid_target))
    train, target = (tuple(placed(name) for name in names) for names in (config.train, config.train_target))
    folder = str(_under(config.folder or "", data)) if config.mix else config.folder
    return replace(config, train=train, train_target=target, valid=valid, valid_target=valid_target, folder=folder)


def _under(name: str, data: Path | None) -> Path:
    return Path(name) if data is None else data / name  # an absolute path stays the same


def _find(path: Path) -> Path:
    if path.is_file():
        return path
    known = {bundled.stem: bundled for bundled in sorted(BUNDLED.glob("*.toml"))}
    if str(path) in known:
        return known[str(path)]
    raise ConfigError(
        f"There is no queue {path}: neither a file (relative to {Path.cwd()}) nor a bundled queue. "
        f"{nearest(path.stem, list(known))}"
    )


def _refusal(path: Path, problems: list[str]) -> ConfigError:
    return ConfigError("\n".join([f"The queue {path} cannot be used:", *(f"- {problem}" for problem in problems)]))
