"""A queue of trainings that differ in one option each: its members, and the order in which they are trained.

One TOML file (see `families.toml` in this folder) names the base recipe, the members (the options that differ, and
seeds), and the families in which they are compared. A member may be in several families and is trained once. Members
are trained in their order in the file, first all of them with their first seed, then with their second, so that a queue
that is stopped early has compared everything once.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import Field, StrictInt
from pydantic.dataclasses import dataclass as checked

from transformer.config import Recipe
from transformer.files.untrusted_values import STRICT

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


def value_in(queue: Queue, member: str, option: str) -> str | int | float | bool | None:
    """The value of a family's option for a member; the member's name if the family varies several options."""
    return value_of(queue.recipes[member], option) if option else member


def value_of(recipe: Recipe, option: str) -> str | int | float | bool | None:
    """The value of "section.key" in a recipe."""
    section, _, key = option.partition(".")
    value: str | int | float | bool | None = getattr(getattr(recipe, section), key)
    return value
