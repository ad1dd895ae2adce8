"""JSON from files, read more strictly than Python reads it.

Headlight reads every JSON file with these functions. All strings in the result can be written as UTF-8. JSON may
contain half a character (a lone surrogate, such as "\\ud800"): Python reads it without an error, and fails much later,
when a page or a file has to show it.
"""

import json
import re
from collections import Counter
from typing import Any, NoReturn

from transformer.files.untrusted_values import shown

_SURROGATE = re.compile("[\ud800-\udfff]")
# An escaped surrogate may be half of a valid pair. So a match here only means that the decoded strings are checked.
_MAYBE_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]|[\ud800-\udfff]")


def parse_json(text: str) -> Any:
    """Any JSON value.

    Raises:
        ValueError: the text is not JSON, is nested too deep, or has a string that is not valid Unicode.
    """
    return _checked(text, json.JSONDecoder())


def parse_object(text: str) -> dict[str, Any]:
    """A JSON object in which no name occurs twice, and NaN and Infinity do not occur.

    Raises:
        ValueError: as `parse_json`, or the value is not such an object.
    """

    def no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        counts = Counter(name for name, _ in pairs)
        if len(counts) < len(pairs):
            raise ValueError(f"the name {shown(counts.most_common(1)[0][0])} occurs twice")
        return dict(pairs)

    def no_constants(constant: str) -> NoReturn:
        raise ValueError(f"{constant} is not JSON")

    value = _checked(text, json.JSONDecoder(object_pairs_hook=no_duplicates, parse_constant=no_constants))
    if not isinstance(value, dict):
        raise ValueError("not an object")
    return value


def is_unicode(text: str) -> bool:
    """Whether a string can be written as UTF-8: it has no lone surrogate."""
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
