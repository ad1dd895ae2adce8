"""How the values of choices are read from the address, and written into it.

A reader raises ValueError, KeyError or IndexError for an invalid text. What counts from 0 in the app counts from 1 in
the address.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, cast

from app.languages import _, gettext_noop
from transformer.model.attention_kinds import KINDS, Kind

Name = TypeVar("Name", bound=str)


def text(most: int) -> Callable[[str], str]:
    return lambda value: value[:most]


@dataclass(frozen=True)
class OneOf(Generic[Name]):
    """Reads one of these names."""

    names: Sequence[Name]

    def __call__(self, value: str) -> Name:
        return self.names[self.names.index(cast(Name, value))]


def one_of(names: Sequence[Name]) -> OneOf[Name]:
    return OneOf(names)


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


def steps(value: str) -> tuple[int, ...] | None:
    """Steps such as "3-5", from 1; "none" for (), "all" for None."""
    if value == "all":
        return None
    return () if value == "none" else tuple(map(from_one, value.split("-")))


def steps_text(value: tuple[int, ...] | None) -> str:
    if value is None:
        return "all"
    return "-".join(map(plus_one, value)) or "none"


def heads(value: str) -> list[tuple[int, int]]:
    """Heads such as "1.3,2.4", layer and head from 1."""
    if not value:
        return []
    pairs = [part.split(".") for part in value.split(",")]
    return [(from_one(layer), from_one(head)) for layer, head in pairs]


def heads_text(value: list[tuple[int, int]]) -> str:
    return ",".join(f"{layer + 1}.{head + 1}" for layer, head in value)


def one_head(value: str) -> tuple[int, int]:
    return heads(value)[0]


def one_head_text(value: tuple[int, int]) -> str:
    return heads_text([value])


def pinned(value: str) -> tuple[Kind, int, int, bool]:
    """Kind of attention, query and key, such as "cross.3.5". A query or key that is not pinned is 0 in the address and
    -1 here. With ".computed" at the end, the calculation of that weight is open."""
    place, suffix, rest = value.partition(".computed")
    kind, query, key = place.split(".")
    if rest:
        raise ValueError(value)
    return one_of(tuple(KINDS))(kind), whole(query) - 1, whole(key) - 1, bool(suffix)


def pinned_text(value: tuple[Kind, int, int, bool]) -> str:
    kind, query, key, computed = value
    return f"{kind}.{query + 1}.{key + 1}{'.computed' if computed else ''}"


def names_of_folders(value: str) -> list[str]:
    """Names such as "reverse-1/mine, 2". A name of a folder may have any character except "/"."""
    return value.split("/")


def names_of_folders_text(value: list[str]) -> str:
    return "/".join(value)


_EXPECTED: dict[Callable[[str], Any], str] = {
    whole: gettext_noop("a whole number, such as 3"),
    from_one: gettext_noop("a whole number from 1"),
    float: gettext_noop("a number, such as 0.6"),
    switch: gettext_noop("true or false"),
    ids: gettext_noop("whole numbers, such as 12-7"),
    one_head: gettext_noop("layer and head, such as 4.6"),
    heads: gettext_noop("layers and heads, such as 4.6,5.2"),
    pinned: gettext_noop("kind of attention, query and key, such as cross.3.5"),
}


def expected(read: Callable[[str], Any]) -> str:
    """What a reader accepts, in words; "" where it is not known."""
    return ", ".join(read.names) if isinstance(read, OneOf) else _(_EXPECTED.get(read, ""))
