"""From untrusted keys and values to a configuration, or to a list of everything that is wrong.

Used for recipes and queues, for `--set` on the command line, and for the files that Headlight writes.
"""

import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from difflib import get_close_matches
from types import NoneType
from typing import TypeVar, get_args, get_type_hints

from pydantic import ConfigDict, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

Config = TypeVar("Config")

STRICT = ConfigDict(extra="forbid", allow_inf_nan=False)  # of a dataclass whose values come from a file


def validate(kind: type[Config], values: object, prefix: str = "") -> tuple[Config | None, list[str]]:
    """`values` as a configuration of class `kind`, and all problems: exactly one of the two is empty.

    Args:
        kind: a dataclass, such as those of `transformer.config`.
        values: nested dictionaries, as TOML and JSON give them; anything else is a problem.
        prefix: the section of the values, put before each name (`model.`).
    """
    if not isinstance(values, Mapping):
        return None, [
            f"{prefix.rstrip('.') or 'It'} should be a section with options of its own and is {shown(values)}."
        ]
    try:
        return TypeAdapter(kind).validate_python(dict(values)), []
    except ValidationError as error:
        # Every member of a union reports its own error; the same sentence is listed once.
        details = error.errors(include_url=False)
        return None, list(dict.fromkeys(text for detail in details for text in _sentences(kind, detail, prefix)))


def refuse(problems: Mapping[str, bool]) -> None:
    """Raises one ValueError with all problems that are there, a line each, as `validate` expects it.

    Args:
        problems: by its sentence, whether the problem is there.
    """
    if found := [problem for problem, is_there in problems.items() if is_there]:
        raise ValueError("\n".join(found))


def nearest(name: str, names: list[str]) -> str:
    """The question "Did you mean ...?" for a name that is not among `names`, or the list of all names."""
    close = get_close_matches(name, names, n=1, cutoff=0.5)
    return f"Did you mean {close[0]}?" if close else f"There are: {', '.join(names)}."


def shown(value: object, length: int = 80) -> str:
    """A value from a file, safe to print: no control characters, no megabytes."""
    try:
        text = ascii(value)[1:-1] if isinstance(value, str) else ascii(value)
    except (RecursionError, ValueError):  # a list in a list in a list ..., an integer of 5,000 digits
        text = f"a {type(value).__name__}"
    return text if len(text) <= length else text[: length - 3] + "..."


def printable(text: str) -> str:
    """A text with the characters escaped that may control a terminal; all other letters stay as they are."""
    return "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in text)


def finite_number(value: object) -> float | None:
    """A value from a file as a float; None if it is not a finite number."""
    try:
        return float(value) if type(value) in (int, float) and math.isfinite(value) else None  # type: ignore[arg-type]
    except OverflowError:  # an integer of 400 digits
        return None


def _sentences(kind: type, detail: ErrorDetails, prefix: str) -> list[str]:
    *path, last = detail["loc"] or ("",)
    name = ".".join(shown(str(part)) for part in detail["loc"])  # "": the section as a whole
    where = prefix + name if name else prefix.rstrip(".")
    if detail["type"] == "unexpected_keyword_argument":
        return [f"{where} is not an option. {nearest(str(last), _options(kind, path))}"]
    if detail["type"] == "missing":
        return [f"{where} is missing."]
    if detail["type"] == "value_error":  # raised by our own checks of values that contradict each other, a line each
        subject = f"{where}: " if where else ""
        return [f"{subject}{problem}." for problem in str(detail["ctx"]["error"]).split("\n")]
    message = detail["msg"].removeprefix("Input ").replace(" is an instance of DataclassArgs", "")
    if detail["type"] == "dataclass_type":
        message = "should be a section with options of its own"
    return [f"{where} = {shown(detail['input'])}: {message}."]


def _options(kind: type, path: list[int | str]) -> list[str]:
    """The options of the section at `path` below `kind`; a number is an index of a list."""
    for part in path:
        kind = get_args(kind)[0] if isinstance(part, int) else get_type_hints(kind)[part]
        if NoneType in get_args(kind):  # X | None
            kind = next(one for one in get_args(kind) if one is not NoneType)
    return [field.name for field in fields(kind)] if is_dataclass(kind) else []
