"""How the values of choices are read from the address, and written into it.

A reader raises ValueError, KeyError or IndexError for a text that is no value. What counts from 0 in the app counts
from 1 in the address.
"""

from collections.abc import Callable, Sequence
from typing import TypeVar, cast

Name = TypeVar("Name", bound=str)


def text(most: int) -> Callable[[str], str]:
    return lambda value: value[:most]


def one_of(names: Sequence[Name]) -> Callable[[str], Name]:
    return lambda value: names[names.index(cast(Name, value))]


def whole(value: str) -> int:
    if not (value.isascii() and value.isdigit() and len(value) < 7):
        raise ValueError(value)
    return int(value)


def from_one(value: str) -> int:
    """A number that counts from 1 in the address and from 0 here."""
    if whole(value) == 0:
        raise ValueError(value)
    return whole(value) - 1


def plus_one(value: int) -> str:
    return str(value + 1)


def switch(value: str) -> bool:
    return {"true": True, "false": False}[value]


def switch_text(value: bool) -> str:
    return str(value).lower()


def ids(value: str) -> tuple[int, ...]:
    return tuple(map(whole, value.split("-"))) if value else ()


def ids_text(value: tuple[int, ...]) -> str:
    return "-".join(map(str, value))


def heads(value: str) -> list[tuple[int, int]]:
    """Heads such as "1.3,2.4", layer and head from 1."""
    pairs = [part.split(".") for part in value.split(",")]
    return [(from_one(layer), from_one(head)) for layer, head in pairs]


def heads_text(value: list[tuple[int, int]]) -> str:
    return ",".join(f"{layer + 1}.{head + 1}" for layer, head in value)


def one_head(value: str) -> tuple[int, int]:
    return heads(value)[0]


def one_head_text(value: tuple[int, int]) -> str:
    return heads_text([value])


def strings(value: str) -> list[str]:
    return value.split(",")
