"""JSON that a file holds, read more strictly than Python reads it.

Every file of JSON that Headlight reads passes through `parse_json`. A string of it can be written as UTF-8: JSON may
spell half a character (a lone surrogate, such as "\\ud800"), which Python reads without an error, and which fails much
later, where a page or a file shall show it.
"""

import json
import re
from typing import Any, NoReturn

from transformer.checkpoint.untrusted_config import shown

_SURROGATE = re.compile("[\ud800-\udfff]")
# In the text of JSON: only the decoded strings tell a lone surrogate from a pair, which is one character.
_MAYBE_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]|[\ud800-\udfff]")


def parse_json(text: str) -> Any:
    """Any JSON value.

    Raises:
        ValueError: the text is not JSON, is nested too deep, or holds a string that is not valid Unicode.
    """
    return _checked(text, json.JSONDecoder())


def parse_object(text: str) -> dict[str, Any]:
    """A JSON object in which no name is given twice, and NaN and Infinity do not occur.

    Raises:
        ValueError: as `parse_json`, or it is another value than such an object.
    """

    def no_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(pairs) != len({name for name, _ in pairs}):
            raise ValueError("a name is given twice")
        return dict(pairs)

    def no_constants(constant: str) -> NoReturn:
        raise ValueError(f"{constant} is not JSON")

    value = _checked(text, json.JSONDecoder(object_pairs_hook=no_doubles, parse_constant=no_constants))
    if not isinstance(value, dict):
        raise ValueError("not an object")
    return value


def is_unicode(text: str) -> bool:
    """Whether a string can be written as UTF-8: it holds no lone surrogate."""
    return text.isascii() or not _SURROGATE.search(text)


def check_unicode(value: Any) -> None:
    """Checks all strings in nested dictionaries and lists.

    Raises:
        ValueError: one of them is not valid Unicode; the message names it, such as `data.source_language`.
    """
    left = [("", value)]
    while left:
        where, value = left.pop()
        if isinstance(value, str) and not is_unicode(value):
            raise ValueError(f"{where or 'text'} = {shown(value)}: not valid Unicode (half of a surrogate pair)")
        if isinstance(value, dict):
            for name in value:
                if not is_unicode(name):
                    raise ValueError(f"the name {_inside(where, name)} is not valid Unicode (half of a surrogate pair)")
            left += [(_inside(where, name), inside) for name, inside in value.items()]
        elif isinstance(value, list):
            left += [(_inside(where, str(number)), inside) for number, inside in enumerate(value)]


def _checked(text: str, decoder: json.JSONDecoder) -> Any:
    try:
        value = decoder.decode(text)
    except RecursionError as error:
        raise ValueError("nested too deep") from error
    if _MAYBE_SURROGATE.search(text):
        check_unicode(value)
    return value


def _inside(where: str, name: str) -> str:
    return f"{where}.{shown(name)}" if where else shown(name)
